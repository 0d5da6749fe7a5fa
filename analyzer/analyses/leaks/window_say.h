/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict where there is neither a step nor a stack that can be judged.
 */
#ifndef LEAKTIDE_ANALYSES_WINDOW_SAY_H
#define LEAKTIDE_ANALYSES_WINDOW_SAY_H

#include "analysis.h"

/* What the recorded time kept, and that this is no verdict. Nothing where there are steps. */
void window_say(const struct question *question, struct report *report);

#endif
