/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop at the end of a program that loads for long: most of its tokens come before the loop, so
 * the whole has no period. The last tokens are kept in their order, and shorter and shorter ends of
 * the program are asked for a period.
 */
#ifndef LEAKTIDE_MODEL_LATE_LOOP_H
#define LEAKTIDE_MODEL_LATE_LOOP_H

#include "step_period.h"

/* The last 4 million tokens, as indexes of rows; that of a position is at position mod capacity. */
struct recent_tokens {
    uint32_t *rows;
    uint64_t capacity;
};

/* Positions come one after the other. False without memory. */
bool recent_tokens_put(struct recent_tokens *recent, uint64_t position, uint32_t row);
void recent_tokens_release(struct recent_tokens *recent);

/*
 * rows: of struct token_series, which then know the end that was looked at last. Its count is of
 * the steps, its earlier_count of its occurrences before the loop.
 */
struct step_period late_loop_find(struct table *rows, const struct recent_tokens *recent,
                                  uint64_t position_count);

#endif
