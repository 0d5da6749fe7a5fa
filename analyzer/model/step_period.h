/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The period with which the tokens of a program come. docs/steps.md has the rules.
 *
 * Positions count tokens, not events or time, so that it does not matter how long a step takes or
 * how much is freed.
 */
#ifndef LEAKTIDE_MODEL_STEP_PERIOD_H
#define LEAKTIDE_MODEL_STEP_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "step_token.h"
#include "table.h"

/* When one token came. */
struct token_series {
    struct step_token token;
    bool is_host;
    uint64_t count, first, last; /* positions */
    uint64_t earlier_count; /* where only the last positions are looked at: how often before them */
    double gap_squares;
};

struct step_period {
    const struct token_series *begins; /* the token that begins the steps; NULL: no period */
    unsigned confidence_percent;
};

void token_series_put(struct token_series *series, uint64_t position);
/* The mean gap. It came at least twice. */
double token_series_period(const struct token_series *series);
/* It came often enough, and the gaps vary little. */
bool token_series_is_regular(const struct token_series *series);

/* rows: of struct token_series; position_count: of all of them together. */
struct step_period step_period_find(const struct table *rows, uint64_t position_count);

#endif
