/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was alive at the end of each step, and from which steps the survivors come; for one group.
 *
 * Both are bounded: when there are STEP_SERIES_MAX entries, every second one goes, and from then
 * on only every second step is kept, then every fourth ... So they never grow with the number of
 * steps, and what is left is exact for the steps that are kept.
 */
#ifndef LEAKTIDE_MODEL_STEP_SERIES_H
#define LEAKTIDE_MODEL_STEP_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STEP_SERIES_MAX = 256 };

/* The value holds from this step on, until the next sample. */
struct step_sample {
    uint32_t step;
    uint32_t count;
    uint64_t bytes;
};

struct step_series {
    struct step_sample *samples;
    uint32_t stride; /* 0 before the first sample; steps are multiples of it */
    uint16_t count, capacity;
};

/* Blocks that were born in `stride` steps from `birth` on. */
struct cohort {
    uint32_t birth;
    uint32_t count, count_at_end;
    uint32_t changed_epoch;
    uint64_t bytes, bytes_at_end;
};

struct cohorts {
    struct cohort *rows; /* by birth, ascending */
    uint32_t stride;
    uint16_t count, capacity;
};

/* False when there is no memory. Steps never go down. */
bool step_series_put(struct step_series *series, struct step_sample sample);
/* The sample that holds at this step; zeros before the first. */
struct step_sample step_series_at(const struct step_series *series, uint32_t step);
/* Asserts that samples, or cohorts, are in order and on kept steps. */
void step_series_check(const struct step_series *series);
void cohorts_check(const struct cohorts *cohorts);
void step_series_release(struct step_series *series);

/*
 * An epoch is the number of step ends so far. What a cohort was at the newest step end is kept
 * aside when it changes for the first time after it.
 */
bool cohorts_put(struct cohorts *cohorts, uint32_t birth, uint32_t count, uint64_t bytes);
void cohorts_take(struct cohorts *cohorts, uint32_t birth, uint64_t bytes, uint32_t epoch);
/* As of the newest step end. */
struct step_sample cohort_at_step_end(const struct cohort *cohort, uint32_t epoch);
void cohorts_release(struct cohorts *cohorts);

#endif
