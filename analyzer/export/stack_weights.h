/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much each stack holds, for viewers of stacks: flame graphs and profiles.
 *
 * Totals of different pools are never added up, so the outermost line of each stack is its ledger.
 * Lines are interned: equal ones have equal numbers.
 */
#ifndef LEAKTIDE_STACK_WEIGHTS_H
#define LEAKTIDE_STACK_WEIGHTS_H

#include "arena.h"
#include "export.h"
#include "hash_index.h"
#include "table.h"

struct stack_line {
    const char *function, *file; /* file "" for none */
    uint32_t line;               /* 0: not known */
};

enum stack_measure { AT_PEAK, AT_END, GROWTH_PER_STEP, STACK_MEASURES };

extern const char *const stack_measure_names[STACK_MEASURES]; /* "live at peak" */

struct stack_weight {
    const uint32_t *lines; /* outermost first */
    size_t line_count;
    uint16_t ledger;
    uint64_t bytes[STACK_MEASURES];
    uint64_t counts[STACK_MEASURES]; /* of blocks; of growth: 0 */
};

struct stack_weights {
    struct arena arena;
    struct table lines; /* struct stack_line */
    struct hash_index line_index;
    struct stack_weight *rows;
    size_t count;
};

/* Release in either case. */
enum mt_result stack_weights_init(struct stack_weights *weights,
                                  const struct export_request *request, struct mt_error *error);
void stack_weights_release(struct stack_weights *weights);

static inline const struct stack_line *stack_line_at(const struct stack_weights *weights,
                                                     uint32_t number)
{
    return table_at(&weights->lines, number);
}

enum mt_result export_folded(const struct export_request *request, struct mt_error *error);
enum mt_result export_speedscope(const struct export_request *request, struct mt_error *error);
enum mt_result export_pprof(const struct export_request *request, struct mt_error *error);

#endif
