/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about what was found, and what that would save. One table of rules, in
 * advice_rules.c; each looks for its evidence in this recording, and without it says nothing.
 * docs/advice.md has the thresholds and the sources.
 */
#ifndef LEAKTIDE_ANALYSES_ADVICE_RULES_H
#define LEAKTIDE_ANALYSES_ADVICE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "fragments.h"
#include "growth.h"
#include "peak_trial.h"
#include "what_if.h"

enum { ADVICES_MOST = 64 };

/* Which question a rule belongs to; some belong to several. */
enum advice_topic {
    ADVICE_ON_LEAKS = 1,
    ADVICE_ON_PEAK = 2,
    ADVICE_ON_POOLS = 4,
    ADVICE_ON_DRIVER = 8,
    ADVICE_ON_FAILURE = 16,
    ADVICE_ON_ALL = ADVICE_ON_PEAK | ADVICE_ON_POOLS | ADVICE_ON_DRIVER
};

/* A request that failed, and what was there then. */
struct failed_request {
    const struct failure *failure;
    bool knows_pools, knows_pieces;
    uint64_t unused_bytes, largest_piece_bytes, waiting_bytes; /* of all pools of the device */
    struct who grown, holder; /* who grew most since a step, and who held most */
    uint64_t grown_bytes, holder_bytes;
    uint32_t since_step; /* 0: there are no steps to compare with */
};

/* Rules whose evidence is not there, NULL, say nothing. */
struct evidence {
    const struct question *question;
    struct report *report;
    const struct fragments *fragments;
    const struct what_ifs *what_ifs;
    const struct trials *trials;
    const struct judged *leak; /* one */
    const struct failed_request *failed;
};

struct advice {
    const char *rule, *finding, *what_to_do;
    uint64_t saves_bytes; /* of the peak, of the pool or of the device; 0: not known */
    uint64_t saves_bytes_per_step;
    bool is_at_most; /* it saves so many bytes at most */
};

struct advices {
    struct advice rows[ADVICES_MOST];
    size_t count;
};

/* What the rules of these topics say, largest saving first. */
void advices_collect(const struct evidence *evidence, unsigned topics, struct advices *advices);

/* "DO: stop it. It saves at most 3 MiB of the peak, 1 MiB per step." */
const char *advice_end(struct report *report, const struct advice *advice);
/* Adds each as a finding; the first `spoken` ones are sentences of the verdict as well. */
void advices_show(const struct advices *advices, struct report *report, int rank, size_t spoken);
/* The two together. */
void advices_add(const struct evidence *evidence, unsigned topics, int rank, size_t spoken);

/* What to do about a leak; false: nothing is known. */
bool advice_for_leak(const struct question *question, struct report *report,
                     const struct judged *leak, struct advice *advice);

#endif
