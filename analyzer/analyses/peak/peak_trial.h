/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What would become of a peak if the blocks of a site were not there, or only while they are used:
 * by adding up the whole curve again without them.
 *
 * Exact. Memory is bounded by the number of trials, by what is alive, and, where uses are known, by
 * TRIAL_USES_MOST.
 */
#ifndef LEAKTIDE_ANALYSES_PEAK_TRIAL_H
#define LEAKTIDE_ANALYSES_PEAK_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "origins.h"

enum { TRIALS_MOST = 16, TRIAL_LEDGERS_MOST = 3, TRIAL_USES_MOST = 1 << 22 };

/* One site of a ledger, tried. Peaks are those of its ledger. */
struct trial {
    const struct origin *origin;
    struct step_sample held;    /* at the peak as it is */
    uint64_t without_bytes;     /* the peak, if its blocks were not there */
    uint64_t without_all_bytes; /* nor those of the trials before it */
    uint64_t used_bytes;        /* if they lived from their first use to their last */
};

/* Blocks at the peak by what they are like. */
enum { SIZE_CLASSES = 64, AGE_CLASSES = 6 };

struct peak_trials {
    uint16_t ledger;
    struct trial trials[TRIALS_MOST]; /* largest held first */
    size_t count;
    struct step_sample sizes[SIZE_CLASSES]; /* class n: up to 2^n bytes, above 2^(n-1) */
    struct step_sample ages[AGE_CLASSES];   /* by the steps, or the time, since they were made */
    bool counts_steps;                      /* ages are in steps */
    bool has_uses; /* used_bytes are known: accesses of its blocks were recorded */
};

struct trials {
    struct peak_trials ledgers[TRIAL_LEDGERS_MOST];
    size_t count;
    struct origins origins;
    uint64_t missed_count;
    struct trial_curves *curves; /* until trials_finish() */
};

/*
 * Of the ledgers that matter most, down to a hundredth of the first. Where uses are known, reads
 * the recording for them; then the visitor is to see all blocks, and
 * trials_finish() is called. MT_NO_MEMORY, or as lives_read(). Release it in any case.
 */
enum mt_result trials_begin(struct trials *trials, const struct question *question,
                            struct life_visitor *visitor, struct mt_error *error);
enum mt_result trials_finish(struct trials *trials, struct mt_error *error);
void trials_release(struct trials *trials);

#endif
