/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that have begun and not ended, thread by thread: few at a time.
 */
#ifndef LEAKTIDE_OPEN_OPERATORS_H
#define LEAKTIDE_OPEN_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "event.h"

struct open_operator {
    uint32_t thread, text;
    uint64_t begin_ns;
};

/* Zeroed is empty. */
struct open_operators {
    struct open_operator *rows;
    size_t count, capacity;
};

/* False without memory. */
bool open_operators_begin(struct open_operators *operators, const struct event *begin);
/* Takes the innermost of the thread; false when none is open. */
bool open_operators_end(struct open_operators *operators, uint32_t thread,
                        struct open_operator *ended);
void open_operators_clear(struct open_operators *operators);
void open_operators_release(struct open_operators *operators);

#endif
