/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a recording with other steps than those it has: found ones, or those that a user
 * named; and of these the wanted ones only.
 *
 * To whoever reads it, it is a recording like any other. Before the first wanted step of a process
 * stands EVENT_WINDOW_BEGIN; after the last one nothing more of that process. Blocks that were made
 * in steps which are left out between are older than the window: they are there, and of no step.
 */
#ifndef LEAKTIDE_MODEL_STEP_SOURCE_H
#define LEAKTIDE_MODEL_STEP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event_source.h"
#include "step_choice.h"
#include "step_finder.h"

/* What begins a step. */
struct step_rule {
    bool is_named; /* by named tokens; else by the token of the process, if it has one */
    struct named_tokens named;
    /* By process. Of named tokens, those that come once in each entry of what was named; where none
     * is known, every named token begins a step. */
    const struct found_steps *entries;
    size_t entry_count;
    const struct found_steps *found; /* by process */
    size_t found_count;
};

struct step_source;

/* inner, rule and choice must outlive it, with all they point to. NULL without memory. */
struct step_source *step_source_create(const struct event_source *inner,
                                       const struct step_rule *rule,
                                       const struct step_choice *choice);
void step_source_destroy(struct step_source *source);
/* Lives as long as the source. */
struct event_source step_source_events(struct step_source *source);

#endif
