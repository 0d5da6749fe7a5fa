/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of each stack while the lives of a process's blocks are read.
 *
 *   block -> group (tally) -> row: stacks of one shape -> overdue.h
 *
 * One thread at a time. Memory grows with stacks that allocate again and again, never with blocks
 * or events.
 */
#ifndef LEAKTIDE_ANALYSES_SURVIVOR_ROWS_H
#define LEAKTIDE_ANALYSES_SURVIVOR_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "arena.h"
#include "block_rise.h"
#include "clock_samples.h"
#include "collector_watch.h"
#include "hash_index.h"
#include "interpreter_end.h"
#include "labels.h"
#include "lives.h"
#include "overdue.h"
#include "refusals.h"
#include "table.h"
#include "unseen_growth.h"

/* A moment of a process, and how much of what came until then came of imports: these end no loop.
 */
struct survivor_moment {
    uint32_t births, imported; /* of the process, and of these by imports */
    uint64_t time_ns, import_ns;
};

/* Stacks of one shape. It does not know the lines of native functions: the group that has most is
 * whom the row is named after. */
struct survivor_row {
    uint64_t key;  /* ledger and shape */
    uint64_t name; /* of its origin; 0: nobody asked yet */
    struct who who;
    uint32_t who_group, most_group;
    uint64_t most_bytes; /* alive of that group */
    uint16_t ledger;
    uint16_t heap;
    uint16_t traits;
    bool is_active;       /* allocates to the end; known once it was judged */
    bool is_reserved;     /* segments of a pool, which is judged instead; known with its process */
    uint64_t first_ns;    /* of its births */
    uint64_t first_bytes; /* of its first block */
    struct survivor_moment newest;
    uint64_t alive_at_newest_bytes; /* after its newest birth */
    /* When a tenth of that had gone, and all but a tenth; births 0: it has not. */
    struct survivor_moment went_first, went_last;
    struct overdue_stack stack;
};

/* How much came between two moments, without imports. */
struct survivor_span {
    uint64_t births, time_ns;
};

/* Of the process that is read. */
struct survivor_current {
    bool has_begun, is_cleaned_up, hides_objects, sees_objects;
    bool lacks_names; /* its interpreter may have run what rules look for: nobody knows */
    struct interpreter_end interpreter_end;
    uint64_t first_index; /* of its births */
    struct survivor_moment now;
    /* The newest birth under Python, of a device, and of any, before the end. */
    struct work_ends {
        struct survivor_moment python, device, any;
    } ends;
    /* The same when memory was refused, the first time of the last episode. */
    struct work_ends refused_ends;
    struct refusal_episode refused;
    struct survivor_moment work_end; /* known once the process is over */
    uint64_t ending_ns;              /* when it was first seen to take itself down; 0: it was not */
    uint64_t asked_bytes;
    struct clock_samples times, asked; /* asked: bytes before the birth */
    struct collector_watch collector;
    struct block_rise rise;
};

/* Of a ledger: how far what is alive ever fell. */
struct survivor_tide {
    uint64_t alive_bytes, high_bytes, fall_bytes;
};

struct group_state;

/* A birth or a death, with what the rows need of it. */
struct survivor_change {
    uint64_t index, time_ns, size_bytes; /* index: of the block's birth */
    uint32_t group;
    uint16_t ledger;
    bool is_death;
};

enum { SURVIVOR_CHANGES_MOST = 32 };

/* Changes that wait until the memory they need has come; the oldest goes first. */
struct survivor_queue {
    struct survivor_change changes[SURVIVOR_CHANGES_MOST];
    uint32_t head, count; /* head: where the next one is put */
};

struct survivor_rows {
    const struct question *question;
    struct arena arena;
    struct table table;      /* struct survivor_row */
    struct hash_index index; /* of rows, by key */
    struct group_state *groups;
    size_t group_count;
    struct survivor_tide *tides; /* by ledger */
    struct unseen_watch unseen;
    size_t first; /* of the process that is read */
    struct survivor_current current;
    struct survivor_queue queue; /* only of many rows */
    bool has_failed;
};

/* false: there is no memory, and nothing to release. The question must outlive the rows. */
bool survivor_rows_init(struct survivor_rows *rows, const struct question *question);
void survivor_rows_release(struct survivor_rows *rows);

/* As the callbacks of struct life_visitor: false if the reading shall end, without memory. */
bool survivor_rows_born(struct survivor_rows *rows, const struct life *life);
bool survivor_rows_over(struct survivor_rows *rows, const struct life *life);
/* What was born and freed until now has arrived in the rows. Before anything looks at them. */
void survivor_rows_catch_up(struct survivor_rows *rows);

/* What was freed until now was not freed because the program ends. */
void survivor_rows_settle(struct survivor_rows *rows);
/* The process is over: what is read next is of another one. */
void survivor_rows_next_process(struct survivor_rows *rows);

/* A request for memory was refused. */
bool survivor_rows_refused(struct survivor_rows *rows, const struct event *event);

/* The process is over: when its work ended, which a refusal may have done. Before rows are judged.
 */
void survivor_rows_end_work(struct survivor_rows *rows, uint16_t process);
/* What came between the newest birth of a stack and the end of the work. Of what was given back in
 * between, at once or later, the taking down is no part of that. */
struct survivor_span survivor_row_rest(const struct survivor_rows *rows,
                                       const struct survivor_row *row);
/* From its first birth to its newest. */
struct survivor_span survivor_row_lasted(const struct survivor_row *row);
/* Nearly all that it kept went before the work ended. */
bool survivor_row_is_given_back(const struct survivor_rows *rows, const struct survivor_row *row);

/* How many rows the process that is read has. */
static inline size_t survivor_row_count(const struct survivor_rows *rows)
{
    return rows->table.count - rows->first;
}

/* at < survivor_row_count() */
static inline struct survivor_row *survivor_row_at(const struct survivor_rows *rows, size_t at)
{
    return table_at(&rows->table, rows->first + at);
}

/* The same, of whoever has most of it. */
struct survivor_row *survivor_row_settled(const struct survivor_rows *rows, size_t at);
/* Of its origin. A name is made of all frames of a stack: only where it is needed. */
uint64_t survivor_row_name(const struct survivor_rows *rows, struct survivor_row *row);

#endif
