/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named stretches of time: ranges and marks of the program, or operators. The longest ones are
 * kept.
 */
#ifndef LEAKTIDE_ANALYSES_PHASES_H
#define LEAKTIDE_ANALYSES_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

struct phase {
    uint64_t begin_ns, end_ns; /* equal: a mark */
    uint64_t range_id;         /* of an operator its thread, on which operators nest */
    uint32_t text;
    uint16_t process;
};

struct phases {
    struct phase *rows, *open;
    size_t count, capacity, open_count, open_capacity;
    uint64_t left_out_count;
    uint64_t least_ns; /* shorter ones are left out */
};

/* Looks at range and mark events only. False when there is no memory. */
bool phases_put(struct phases *phases, const struct event *event);
/* The same of operators. */
bool phases_put_operator(struct phases *phases, const struct event *event);
/* What is still open ends here. */
bool phases_finish(struct phases *phases, uint64_t end_ns);
void phases_release(struct phases *phases);

#endif
