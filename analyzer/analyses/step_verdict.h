/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a site's memory does from step to step. docs/verdicts.md explains each rule.
 *
 * Judged from two things only: what is alive at the end of each step, and in which steps those
 * were born that are alive at the end of the last one.
 */
#ifndef MEMTIDE_ANALYSES_STEP_VERDICT_H
#define MEMTIDE_ANALYSES_STEP_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trend.h"

/* Five steps that all rise happen by chance once in 120 times: enough for p < 0.01. */
enum { STEPS_NEEDED = 5 };

enum step_verdict {
    VERDICT_LEAK,      /* rises to the end, survivors of many steps */
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
    size_t count; /* <= TREND_MAX */
};

struct step_judgement {
    enum step_verdict verdict;
    struct trend trend;
    size_t birth_count;  /* judged steps that left survivors */
    uint64_t kept_bytes; /* of survivors born in judged steps before the last one */
    uint64_t kept_count;
    uint64_t growth_per_step; /* bytes; 0 unless it grew */
};

struct step_judgement step_judge(const struct step_history *history);
const char *step_verdict_name(enum step_verdict verdict);

#endif
