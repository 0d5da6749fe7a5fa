/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How profilers of PyTorch call a step: prof.step() ends one annotation of this name and begins the
 * next. The recorder meets it as an operator; traces, snapshots and profiles hold it; exports write
 * it.
 */
#ifndef LEAKTIDE_PROFILER_STEP_H
#define LEAKTIDE_PROFILER_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MT_PROFILER_STEP  "ProfilerStep#" /* and its number, from 0 or 1 */

/* How PyTorch calls a step of an optimizer, whatever library runs the loop; and "Adam.step". */
#define MT_OPTIMIZER_STEP "Optimizer.step#"

static inline bool mt_optimizer_step(const char *name)
{
    return strncmp(name, MT_OPTIMIZER_STEP, sizeof(MT_OPTIMIZER_STEP) - 1) == 0;
}

/* Whether that is the name of a step; its bytes need no end. */
static inline bool mt_profiler_step(const char *name, size_t name_bytes, uint64_t *number)
{
    const size_t word_bytes = sizeof(MT_PROFILER_STEP) - 1;

    if (name_bytes <= word_bytes || memcmp(name, MT_PROFILER_STEP, word_bytes) != 0)
        return false;
    *number = 0;
    for (size_t i = word_bytes; i < name_bytes; i++) {
        if (name[i] < '0' || name[i] > '9' || *number > UINT32_MAX)
            return false;
        *number = *number * 10 + (uint64_t)(name[i] - '0');
    }
    return true;
}

#endif
