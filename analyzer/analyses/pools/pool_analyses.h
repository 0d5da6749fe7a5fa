/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pools hold and nobody uses, and requests that did not fit.
 */
#ifndef LEAKTIDE_ANALYSES_POOL_ANALYSES_H
#define LEAKTIDE_ANALYSES_POOL_ANALYSES_H

#include "analysis.h"

void analyse_oom(const struct question *question, struct report *report);
/* In a report of everything: nothing where no request failed, or it was granted when asked again.
 */
void analyse_oom_if_any(const struct question *question, struct report *report);
/* One sentence, without another reading. */
void analyse_oom_in_short(const struct question *question, struct report *report);
void analyse_fragmentation(const struct question *question, struct report *report);
void analyse_fragmentation_if_known(const struct question *question, struct report *report);

#endif
