/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a site's memory does from step to step. docs/verdicts.md explains each rule.
 *
 * Judged from three things only: what is alive at the end of each step, in which steps those were
 * born that are alive at the end of the last one, and how old a block of the site can be when it is
 * freed.
 */
#ifndef LEAKTIDE_ANALYSES_STEP_VERDICT_H
#define LEAKTIDE_ANALYSES_STEP_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trend.h"

enum step_verdict {
    VERDICT_LEAK,      /* rises to the end, survivors of many steps */
    VERDICT_LIGHT,     /* the same, but all of it together weighs too little: growth.h */
    VERDICT_CACHE,     /* rose, then stopped, or survivors of few steps */
    VERDICT_SAWTOOTH,  /* rises and falls over several steps */
    VERDICT_UNSURE,    /* too few steps */
    VERDICT_TEMPORARY, /* alive at the end of a step, freed in the next */
    VERDICT_STABLE,    /* no trend */
    VERDICT_COUNT
};

/* Entry i is about the i-th judged step, or stretch of steps. */
struct step_history {
    const uint64_t *alive_bytes;     /* when it ended */
    const uint64_t *survivor_counts; /* born in it, alive when the last one ended */
    const uint64_t *survivor_bytes;
    size_t count;      /* <= TREND_MAX */
    size_t site_count; /* that are judged with it */
    size_t freed_age;  /* no block that was freed was born more entries before; at least 1 */
};

struct step_judgement {
    enum step_verdict verdict;
    bool is_one_growing_block; /* a leak of few blocks that are made anew, each time larger */
    size_t birth_count;        /* judged steps that left survivors */
    uint64_t kept_bytes;       /* of survivors born in judged steps before the last one */
    uint64_t kept_count;
    size_t overdue_entries; /* leading ones whose survivors are older than any freed block */
    uint64_t overdue_bytes, overdue_count;
    size_t freed_age; /* that was asked of them, in entries */
    /* Only where it leaks or may, see step_measure(). */
    struct trend trend;
    uint64_t growth_per_step;         /* bytes; 0 unless it grew */
    uint64_t growth_low, growth_high; /* of it, with a confidence of 95 % */
};

struct step_judgement step_judge(const struct step_history *history);
/* The same where it is known from elsewhere that survivors stay: the verdict is a leak if there are
 * any, and only the newest are not overdue. */
struct step_judgement step_judge_known(const struct step_history *history);

/* How fast it grows, and how likely that is by chance. An entry is a stretch of `stride` steps. */
void step_measure(const struct step_history *history, uint32_t stride,
                  struct step_judgement *judgement);

const char *step_verdict_name(enum step_verdict verdict);

#endif
