/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that were needed once: pc -> packed rule, for all threads.
 *
 *     63                  33 32      25 24          0
 *    | tag                  | generation | row       |
 *
 * A pc of 48 bits is scattered in a way that can be undone; 17 bits of the result are the place and
 * 31 the tag, so a word that fits belongs to this very pc. Rows of 64 KiB of code are in one page,
 * so a small program touches few of them. A place holds one word, written and read at once: no
 * locks. Words of another generation do not fit. Only what belongs to a loaded object is put, and a
 * generation ends when one leaves, not when one comes: imports of a Python program load hundreds.
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

enum {
    ROW_PC_BITS = 48,
    ROW_REGION_SHIFT = 16, /* 64 KiB of code */
    ROW_PAGE_BITS = 8,
    ROW_SLOT_BITS = 9, /* of a page of 4096 bytes */
    ROW_PLACE_BITS = ROW_PAGE_BITS + ROW_SLOT_BITS,
    ROW_TAG_SHIFT = 33,
    ROW_GENERATIONS = 256
};

/* Starts as zeros, then needs row_table_next_generation once. */
struct row_table {
    uint64_t generation;
    uint64_t words[1 << ROW_PLACE_BITS];
};

/* Both can be undone. */
static inline uint32_t row_region(uint64_t pc)
{
    return (uint32_t)(pc >> ROW_REGION_SHIFT) * UINT32_C(0x9e3779b1);
}

static inline uint16_t row_within(uint64_t pc)
{
    return (uint16_t)((uint16_t)pc * UINT32_C(0x9e3b));
}

static inline uint64_t row_place(uint64_t pc)
{
    uint32_t region = row_region(pc);
    uint32_t page = region >> (32 - ROW_PAGE_BITS);
    uint32_t slot = row_within(pc) >> (ROW_REGION_SHIFT - ROW_SLOT_BITS);

    return page << ROW_SLOT_BITS | (slot ^ (region & ((1 << ROW_SLOT_BITS) - 1)));
}

/* The word of a pc without its row. */
static inline uint64_t row_tag(uint64_t pc, uint64_t generation)
{
    enum { REST_BITS = ROW_REGION_SHIFT - ROW_SLOT_BITS };
    uint64_t region = row_region(pc) & ((1 << (32 - ROW_PAGE_BITS)) - 1);
    uint64_t rest = row_within(pc) & ((1 << REST_BITS) - 1);

    return (region << REST_BITS | rest) << ROW_TAG_SHIFT | generation % ROW_GENERATIONS << ROW_BITS;
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
