/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program does again and again: allocates at a site, runs an operator, begins a range.
 */
#ifndef LEAKTIDE_MODEL_STEP_TOKEN_H
#define LEAKTIDE_MODEL_STEP_TOKEN_H

#include <stdint.h>

#include "event.h"

enum step_token_kind { TOKEN_NONE, TOKEN_SITE, TOKEN_SIZE, TOKEN_OPERATOR, TOKEN_MARK };

struct step_token {
    enum step_token_kind kind;
    uint64_t id; /* site, size in bytes, or text */
};

/* The token that an event is, or TOKEN_NONE. */
static inline struct step_token step_token_of(const struct event *event)
{
    switch (event->kind) {
    case EVENT_ALLOC:
        if (event->site)
            return (struct step_token){TOKEN_SITE, event->site};
        return (struct step_token){TOKEN_SIZE, event->value};
    case EVENT_OPERATOR_BEGIN:
        return (struct step_token){TOKEN_OPERATOR, event->text};
    case EVENT_RANGE_BEGIN:
    case EVENT_MARK:
        return (struct step_token){TOKEN_MARK, event->text};
    default:
        return (struct step_token){TOKEN_NONE, 0};
    }
}

#endif
