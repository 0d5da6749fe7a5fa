/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that were needed once: pc -> packed rule, for all threads.
 *
 *     63                  33 32      25 24          0
 *    | tag                  | generation | row       |
 *
 * A pc of 48 bits is scattered by a multiplication that can be undone; 17 bits of the result are
 * the place and 31 the tag, so a word that fits belongs to this very pc. A place holds one word,
 * written and read at once: no locks. Words of another generation do not fit. Only what belongs to a
 * loaded object is put, and a generation ends when one leaves: the imports of a Python program load
 * hundreds, and would make each row again and again.
 *
 * Invariant: a row is never taken for another pc, or for other code that lay there before.
 */
#ifndef LEAKTIDE_TRACER_ROW_TABLE_H
#define LEAKTIDE_TRACER_ROW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "row_arch.h"

/* A rule as a row, whatever the processor; 0: it does not fit. */
static inline uint32_t row_pack(const struct unwind_rule *rule)
{
    switch (rule->kind) {
    case RULE_FRAME:
        return row_pack_frame(rule);
    case RULE_SIGNAL:
        return (uint32_t)ROW_SIGNAL << ROW_KIND_SHIFT;
    case RULE_END:
        return (uint32_t)ROW_END << ROW_KIND_SHIFT;
    case RULE_ABSENT:
        return (uint32_t)ROW_ABSENT << ROW_KIND_SHIFT;
    case RULE_LOST:
        return (uint32_t)ROW_LOST << ROW_KIND_SHIFT;
    default:
        return 0;
    }
}

enum { ROW_PLACE_BITS = 17, ROW_PC_BITS = 48, ROW_TAG_SHIFT = 33, ROW_GENERATIONS = 256 };

/* Starts as zeros, then needs row_table_next_generation once. */
struct row_table {
    uint64_t generation;
    uint64_t words[1 << ROW_PLACE_BITS];
};

static inline uint64_t row_scatter(uint64_t pc)
{
    return pc * UINT64_C(0x9e3779b97f4b) & ((UINT64_C(1) << ROW_PC_BITS) - 1);
}

static inline uint64_t row_place(uint64_t pc)
{
    return row_scatter(pc) >> (ROW_PC_BITS - ROW_PLACE_BITS);
}

/* The word of a pc without its row. */
static inline uint64_t row_tag(uint64_t pc, uint64_t generation)
{
    return row_scatter(pc) << ROW_TAG_SHIFT | generation % ROW_GENERATIONS << ROW_BITS;
}

/* 0: not there. pc < 2^48. */
static inline uint32_t row_table_find(const struct row_table *table, uint64_t pc,
                                      uint64_t generation)
{
    uint64_t word = __atomic_load_n(&table->words[row_place(pc)], __ATOMIC_RELAXED);
    uint64_t rest = word ^ row_tag(pc, generation);

    return rest >> ROW_BITS ? 0 : (uint32_t)rest;
}

/* generation: as read before the row was made. */
void row_table_put(struct row_table *table, uint64_t pc, uint64_t generation, uint32_t row);

/* Objects left: nothing that was put before is found any more. */
void row_table_next_generation(struct row_table *table);

static inline uint64_t row_table_generation(const struct row_table *table)
{
    return __atomic_load_n(&table->generation, __ATOMIC_ACQUIRE);
}

#endif
