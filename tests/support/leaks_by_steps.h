/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of `leaks` where nothing is known of the lives of blocks: steps alone decide.
 */
#ifndef LEAKTIDE_TESTS_LEAKS_BY_STEPS_H
#define LEAKTIDE_TESTS_LEAKS_BY_STEPS_H

#include "leak_analyses.h"

static inline void leaks_by_steps(const struct question *question, struct report *report)
{
    struct life_visitor nobody;
    void *state = leaks_analysis.begin(question, &nobody);

    leaks_analysis.write(state, report);
    leaks_analysis.release(state);
}

#endif
