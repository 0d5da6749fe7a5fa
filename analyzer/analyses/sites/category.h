/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What memory is for: weights, gradients, activations ... By its owner, where somebody said so;
 * else by how long it lives over the steps, else by who asked. docs/breakdown.md has the rules.
 */
#ifndef LEAKTIDE_ANALYSES_CATEGORY_H
#define LEAKTIDE_ANALYSES_CATEGORY_H

#include "analysis.h"

enum category {
    /* Roles of tensors; lives only hint at them. */
    CATEGORY_WEIGHTS,
    CATEGORY_OPTIMIZER,
    CATEGORY_GRADIENTS,
    CATEGORY_ACTIVATIONS,
    /* Lives, and what owners and pools say. */
    CATEGORY_TEMPORARY, /* dies in the step that made it */
    CATEGORY_KV_CACHE,
    CATEGORY_COMMUNICATION,
    CATEGORY_WORKSPACE,
    CATEGORY_KEPT,       /* of steps, and never freed: caches, leaks */
    CATEGORY_ROLLING,    /* lives for several steps */
    CATEGORY_THROUGHOUT, /* from before the steps to their end, and more is not known */
    CATEGORY_RESERVED,   /* by a pool above, whose own blocks say for what */
    CATEGORY_OLDER,      /* than the recording, which has no steps to tell more */
    CATEGORY_UNKNOWN,
    CATEGORY_COUNT
};

/* What a guess rests on. */
enum category_ground {
    GROUND_LIVES,    /* how long blocks live over the steps */
    GROUND_CALLERS,  /* names of functions */
    GROUND_BACKWARD, /* a backward pass frees what was made before it */
    GROUND_COUNT
};

struct category_guess {
    enum category category;
    unsigned confidence_percent; /* 100: it was said */
    enum category_ground ground;
};

const char *category_name(enum category category);
/* As people read it: "weights"; "probably weights", unless somebody said so. What a life shows, as
 * "temporary", is seen. */
const char *category_label(struct arena *texts, enum category category, bool is_said);
struct category_guess category_of(const struct question *question, size_t group);

#endif
