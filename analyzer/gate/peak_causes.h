/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a peak is what it is: the sites that hold most of it, or that grew most.
 */
#ifndef LEAKTIDE_GATE_PEAK_CAUSES_H
#define LEAKTIDE_GATE_PEAK_CAUSES_H

#include "judge.h"

struct grown_peak {
    const struct measure *measure;
    const struct baseline_file *baseline; /* NULL: it is not compared, or did not grow */
    uint64_t grown_bytes;
};

/* ": +380 MiB at forward (model.py:88) (was 0 B), +32.0 MiB at ..." and where the first one is.
 * What makes less than half of the growth is no cause. In the verdict's arena. */
const char *peak_causes(struct gate_verdict *verdict, const struct grown_peak *peak,
                        struct place_in_code *where);

#endif
