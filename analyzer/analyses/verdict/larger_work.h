/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One block of a stack is made anew, each time larger. Is it the work that grows, as where a loop
 * is given ever longer sequences? Then what is given back within each turn grows along with it.
 * Beside a history that is only kept, it does not.
 *
 * Nothing here asks for memory or keeps anything.
 */
#ifndef LEAKTIDE_ANALYSES_LARGER_WORK_H
#define LEAKTIDE_ANALYSES_LARGER_WORK_H

#include "labels.h"
#include "overdue.h"

/* Of stacks that give back each block before they ask for the next. Zeroed before the first. */
struct brief_blocks {
    double early_bytes;  /* alive in the first third of their lives */
    double growth_bytes; /* more in the last one, of stacks of which this rises */
};

/* Whether the stack is such. */
bool brief_blocks_are(const struct overdue_stack *stack);
void brief_blocks_add(struct brief_blocks *brief, const struct overdue_stack *stack);

enum work_kind {
    WORK_IS_THE_SAME, /* it does not grow */
    WORK_MAY_GROW,    /* it does; but a block that began with nothing is a history as well, which
                         others work on */
    WORK_GROWS        /* it does, and the block was large at its beginning */
};

/* stack: of which one block grows. first_bytes: of the first block that it made. */
enum work_kind larger_work_kind(const struct overdue_stack *stack, uint64_t first_bytes,
                                const struct brief_blocks *brief);

/* A loop of which each turn asks for more. Zeroed before the first stack. */
struct larger_loop {
    struct who who;          /* whose block grew most */
    uint64_t most_bytes;     /* by so much; 0: there is none */
    uint64_t step_bytes;     /* at each birth of its stack, on average */
    uint64_t doubtful_bytes; /* by so much grew those that may be a history */
};

/* growth_bytes: of the block. One that does not grow with the work changes nothing. */
void larger_loop_see(struct larger_loop *loop, struct who who, enum work_kind kind,
                     const struct overdue_stack *stack, uint64_t growth_bytes);

#endif
