/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How rules look for their evidence: one function each, by what they look at.
 */
#ifndef LEAKTIDE_ANALYSES_ADVICE_LOOKS_H
#define LEAKTIDE_ANALYSES_ADVICE_LOOKS_H

#include "advice_rules.h"

struct rule {
    const char *name, *what_to_do;
    unsigned topics; /* enum advice_topic */
    void (*look)(const struct rule *rule, const struct evidence *evidence, struct advices *advices);
};

/* The newest one can be refined by the caller; NULL when there are too many. */
struct advice *advice_add(struct advices *advices, const struct rule *rule, const char *finding,
                          uint64_t saves_bytes, bool is_at_most);

#define ADVICE_LOOK(name)                                                                          \
    void advice_look_for_##name(const struct rule *rule, const struct evidence *evidence,          \
                                struct advices *advices)

/* advice_pools.c */
ADVICE_LOOK(model);
ADVICE_LOOK(holes);
ADVICE_LOOK(cache);
ADVICE_LOOK(pins);
ADVICE_LOOK(churn);
ADVICE_LOOK(workspace);
ADVICE_LOOK(pinned);
/* advice_driver.c */
ADVICE_LOOK(buffers);
ADVICE_LOOK(module_growth);
/* advice_sites.c */
ADVICE_LOOK(gradients);
ADVICE_LOOK(unused);
ADVICE_LOOK(activations);
ADVICE_LOOK(optimizer_state);
/* advice_leaks.c */
ADVICE_LOOK(growing_block);
ADVICE_LOOK(leak_in_some_steps);
ADVICE_LOOK(leak_of_some_blocks);
ADVICE_LOOK(leak_of_all_blocks);
/* advice_failure.c */
ADVICE_LOOK(absurd_request);
ADVICE_LOOK(growth_until_full);
ADVICE_LOOK(pieces_too_small);
ADVICE_LOOK(waiting_blocks);
ADVICE_LOOK(too_little);

#undef ADVICE_LOOK

#endif
