/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about one leak.
 */
#ifndef LEAKTIDE_ANALYSES_LEAK_ADVICE_H
#define LEAKTIDE_ANALYSES_LEAK_ADVICE_H

#include "advice_rules.h"
#include "verdict.h"

/* Of one by steps. False: nothing is known. */
bool advice_for_leak(const struct question *question, struct report *report,
                     const struct leak *leak, struct advice *advice);

/* No block of it was freed but those of the last step, by the end of the program. */
bool leak_keeps_all(const struct question *question, const struct judged *leak);

#endif
