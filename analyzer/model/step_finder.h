/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the steps of a program that marks none: the period with which its tokens come.
 *
 * A token is a site that allocates, an operator, a range or a mark; docs/steps.md has the rules.
 * Fed with the same batches as a tally. Memory grows with the tokens of one process.
 */
#ifndef LEAKTIDE_MODEL_STEP_FINDER_H
#define LEAKTIDE_MODEL_STEP_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "model.h"
#include "step_token.h"

/* What began the steps of a process. */
struct found_steps {
    bool has_marks;              /* its own steps: nothing was looked for */
    struct step_token token;     /* TOKEN_NONE: no steps were found */
    uint64_t earlier_count;      /* of the token, before the first step */
    uint64_t count;              /* of steps */
    uint64_t allocated_bytes;    /* by the process */
    unsigned confidence_percent; /* of a period; 0: an optimizer's steps are those of the job */
};

struct step_finder;

struct step_finder *step_finder_create(struct model *model); /* NULL without memory */

/* The tokens that a user named. */
struct named_tokens {
    const bool *sites; /* by number */
    size_t site_count;
    const bool *texts; /* operators, ranges and marks */
    size_t text_count;
};
bool token_is_named(const struct named_tokens *named, struct step_token token);

/* Looks at these alone, whatever marks there are and however little they allocate. named must
 * outlive the finder. NULL without memory. */
struct step_finder *step_finder_create_named(struct model *model, const struct named_tokens *named);
void step_finder_destroy(struct step_finder *finder);

/* Out of memory, it forgets what it has and finds nothing in this process. */
void step_finder_feed(struct step_finder *finder, const struct event *events, size_t count);
/* After the last event. */
void step_finder_finish(struct step_finder *finder);
/* A process without events has no steps. */
struct found_steps step_finder_at(const struct step_finder *finder, uint16_t process);

#endif
