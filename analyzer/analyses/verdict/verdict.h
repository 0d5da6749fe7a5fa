/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is thought of a recording: what leaks, why that cannot be said, and what that rests on.
 *
 *   lives of blocks -> evidence/ (counts) -> survivors, steps (judged) -> struct verdict
 *                                                  -> leaks, gate, diff, ranks, exports: they print
 *
 * It is made once for a recording, and whoever says something of leaks borrows it. Nothing else
 * decides: a customer chooses what of it to print, and how. Invariant: leaks have names that are
 * unique in their ledger among all that is judged; without leaks and doubts, enough of a loop was
 * seen to say that nothing leaks.
 */
#ifndef LEAKTIDE_ANALYSES_VERDICT_H
#define LEAKTIDE_ANALYSES_VERDICT_H

#include "doubt.h"
#include "growth.h"
#include "survivors.h"

/* One thing to mend. */
struct leak {
    uint16_t process, ledger;
    struct who who;
    const char *name;          /* of who; and who called, where others have the same name */
    uint64_t key;              /* origin_id(): the same in every recording of the program */
    bool is_by_turn;           /* rates are of a turn of a loop that nobody marked, not of a step */
    uint64_t rate_bytes;       /* per step, or per turn; 0: not known */
    uint64_t least_rate_bytes; /* no slower than this, however its loop turned; 0: not known */
    uint64_t bytes, count;     /* that stay, or by which it grew; count 0: of blocks made anew */
    uint64_t alive_bytes;      /* of its site, at the end */
    /* What it rests on: one of the two. */
    const struct judged *row;                /* by steps */
    const struct survivor_process *loop;     /* by stacks: of this process */
    const struct survivor_origin *survivors; /* by stacks */
    bool is_spread; /* over many sites of its ledger: none of them makes it alone */
    /* The same line of the same program in other processes, as in workers of one job. */
    uint32_t process_count;  /* that leak there; 1: it alone */
    uint32_t program_count;  /* processes of that program */
    uint64_t bytes_in_all;   /* of these that leak */
    bool is_told_by_heavier; /* one of these stands before it */
};

struct verdict {
    bool is_by_stacks;         /* stacks that allocate to the end decided, not steps */
    struct judged_steps steps; /* of the process that has most; last 0: there are no steps */
    const struct leak *leaks;  /* heaviest first, process by process where stacks decided */
    size_t leak_count;
    const struct doubt *doubts; /* in the order of doubts.def */
    size_t doubt_count;
    size_t judged_count;               /* sites, or stacks that allocate to the end */
    const struct survivors *survivors; /* NULL: steps alone decide */
    const struct judged_list *sites;   /* by steps; none without steps */
    const struct judged_list *ledgers; /* the same of ledgers as a whole */
};

/*
 * Of the question's recording: made now, or before. NULL without memory, or if the recording cannot
 * be read again. To be given back.
 */
const struct verdict *verdict_borrow(const struct question *question);
/* NULL is fine. */
void verdict_give_back(const struct question *question, const struct verdict *verdict);
/* For whoever keeps it for a recording: struct question's `verdict`. */
void verdict_destroy(struct verdict *verdict);

/* Of each group of the tally, its leak's number + 1; 0: it is of none. For free(); NULL without
 * memory. */
uint32_t *verdict_leaks_of_groups(const struct question *question, const struct verdict *verdict);
/* The doubt about one process; NULL: none. *judged_count: of its sites, or stacks. */
const struct doubt *verdict_doubt_of(const struct question *question, const struct verdict *verdict,
                                     uint16_t process, size_t *judged_count);

/* The rule that decided about a site, by steps. */
struct why verdict_why_of(const struct judged *row, uint32_t steps_needed);
/* Of a leak. */
struct why verdict_why(const struct question *question, const struct leak *leak);

/* As a part of a block analysis, in the reading of all parts of an answer. */
struct verdict_search;
/* A struct verdict_search, for block_analysis.begin; NULL without memory. */
void *verdict_search_begin(const struct question *question, struct life_visitor *visitor);
const struct question *verdict_search_question(const struct verdict_search *search);
/* After the reading. NULL: there was no memory. Borrowed until the search is released. */
const struct verdict *verdict_search_result(struct verdict_search *search);
void verdict_search_release(void *state);

#endif
