/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the stacks of a trace that is read.
 */
#include <stdint.h>
#include <stdlib.h>

#include "death.h"
#include "trace_stacks.c"

static struct trace_ids ids;
static struct known_frames known;
static struct last_stack *last;

static void make(void)
{
    ids_add(&ids, sizeof(struct code_row), 7);
    known_put(&known, &(struct known_row){.frame_of_trace = 7, .frame = 1});
    last = calloc(1, sizeof(*last));
}

DAMAGE(make, ids_overfull, ids.count = ids.capacity + 1; ids_add(&ids, sizeof(struct code_row), 8))
DAMAGE(make, ids_index, ids.index.count++; ids_add(&ids, sizeof(struct code_row), 8))
DAMAGE(make, known_overfull, known.count = known.capacity / 2 + 1;
       known_put(&known, &(struct known_row){.frame = 1}))
DAMAGE(make, stack_too_long, last->count = MT_STACK_FRAMES_MAX + 1;
       take_frames(last, NULL, &(struct stack_definition){0}))

int main(void)
{
    return deaths_run();
}
