/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several recordings, or several steps of one, side by side: which ledger is which, and what each
 * site, operator, owner and module held on every side.
 *
 * Sides are bases first and the current one last. Ledgers are paired by process (rank where known,
 * else order), pool, kind and device; a device that only one side has is paired in order, then
 * pools of other vendors by their place (pool_is_peer()). Sites are paired by symbols_site_id(),
 * all else by name.
 */
#ifndef LEAKTIDE_ANALYSES_DIFF_JOIN_H
#define LEAKTIDE_ANALYSES_DIFF_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "hash_index.h"
#include "held.h"
#include "table.h"

enum diff_axis { DIFF_SITES, DIFF_OPERATORS, DIFF_OWNERS, DIFF_MODULES, DIFF_AXIS_COUNT };

struct diff_side {
    const struct question *question;
    const char *name; /* for people */
    struct held held;
    uint32_t *pair_of_ledger; /* by ledger; a row of the pairs */
    uint32_t *name_of_text;   /* by text of the model; a row of the names + 1, or 0 */
};

/* Ledgers that are the same thing on several sides. */
struct diff_pair {
    uint16_t *ledgers; /* by side; DIFF_NO_LEDGER where it has none */
    bool is_alone;     /* diff_pair_is_alone() */
};

#define DIFF_NO_LEDGER UINT16_MAX

/* How the allocations of an operator line up, in the order in which they were made. */
struct diff_order {
    uint64_t same_count;    /* in order, and of the same size */
    uint64_t moved_count;   /* of the same size, elsewhere in the order */
    uint64_t resized_count; /* of another size */
    uint64_t new_count, gone_count;
};

struct diff_row {
    enum diff_axis axis;
    uint32_t pair;
    uint64_t key;
    const char *name; /* of the largest part, on the last side that has any */
    size_t name_side;
    uint64_t name_held_bytes, name_made_bytes;
    uint64_t site_id;          /* 0: not a site */
    struct held_group *values; /* by side */
    struct diff_order *order;  /* of the first base and the current side; NULL: not aligned */
};

struct diff_join {
    struct diff_side *sides;
    size_t side_count;     /* bases, then the current one */
    bool is_one_recording; /* then a site is itself on every side */
    struct table pairs, rows, names;
    struct hash_index row_index, name_index;
    struct arena arena;
    bool has_failed;
};

/* The questions must outlive the join; sides[i].held has been read. False without memory. */
bool diff_join_init(struct diff_join *join, struct diff_side *sides, size_t side_count);
void diff_join_release(struct diff_join *join);

/* Its process is missing on a side, so that there is nothing to compare it with; a pool or device
 * that a process has on one side only is compared with nothing held. */
bool diff_pair_is_alone(const struct diff_join *join, uint32_t pair);
/* As the current side calls it, or a base where that has none: "pta device 0", or, where the first
 * base has the pool of another vendor, "torch -> pta device 0". */
const char *diff_pair_label(const struct diff_join *join, uint32_t pair, struct arena *arena);

/* The number of a name that any side may use; equal names have equal numbers. */
uint32_t diff_name(struct diff_join *join, size_t side, uint32_t text);
const char *diff_name_at(const struct diff_join *join, uint32_t name);

/* NULL where no side has such a row. */
struct diff_row *diff_row_find(const struct diff_join *join, enum diff_axis axis, uint32_t pair,
                               uint64_t key);

static inline const struct diff_pair *diff_pair_at(const struct diff_join *join, size_t index)
{
    return table_at(&join->pairs, index);
}

static inline const struct diff_row *diff_row_at(const struct diff_join *join, size_t index)
{
    return table_at(&join->rows, index);
}

#endif
