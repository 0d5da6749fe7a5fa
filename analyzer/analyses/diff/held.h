/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What groups and ledgers held in a stretch of a recording: the whole of it, or one step.
 *
 * A second reading. A step begins where the one before ended, as struct step has it. Memory grows
 * with groups, and with the births that are kept in their order.
 */
#ifndef LEAKTIDE_ANALYSES_HELD_H
#define LEAKTIDE_ANALYSES_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"

enum { HELD_BIRTHS_MOST = 1 << 22 };

struct held_amount {
    uint64_t bytes, count;
};

struct held_group {
    struct held_amount end, peak, made; /* at its end; at its ledger's peak; allocated in all */
};

struct held_ledger {
    uint64_t end_bytes, peak_bytes, peak_ns;
    bool is_used; /* something was alive or made there */
};

/* An allocation of an operator, in order. */
struct held_birth {
    uint32_t group;
    uint64_t size_bytes;
};

struct held {
    struct held_group *groups; /* by group of the tally; 0 is none */
    size_t group_count;
    struct held_ledger *ledgers;
    size_t ledger_count;
    struct held_birth *births;
    size_t birth_count, births_left_out;
};

struct held_stretch {
    bool is_step;
    uint64_t step_number; /* as the program counts */
};

/* MT_NO_DATA when no process has such a step. What was held is released also after a failure. */
enum mt_result held_read(const struct question *question, struct held_stretch stretch,
                         struct held *held, struct mt_error *error);
void held_release(struct held *held);

#endif
