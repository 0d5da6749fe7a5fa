/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of each stack of the model once its frames have names: computed from what is known
 * of its caller's stack, so once for all sites that go through it.
 *
 * One thread at a time.
 */
#ifndef LEAKTIDE_STACK_FACTS_H
#define LEAKTIDE_STACK_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "frame_names.h"
#include "keyed_table.h"
#include "model.h"

enum { STACK_DEPTH_MOST = (1 << 11) - 1 };

/* Stacks are numbers of the model. */
struct stack_fact {
    uint32_t telling;    /* the stack whose own frame is the telling one; before operator_entry() */
    uint32_t called;     /* the stack right inside of it; 0: there is none */
    uint32_t python;     /* the innermost that ends in a frame of Python; 0: there is none */
    uint32_t depth : 11; /* named frames; 0: nothing is known yet; or STACK_DEPTH_MOST and more */
    uint32_t traits : 16;     /* enum stack_trait */
    uint32_t class : 4;       /* of the telling frame */
    uint32_t is_operator : 1; /* what is called from here is how an operator does its work */
};

struct stack_facts {
    struct model *model;
    struct frame_names *names;
    struct stack_fact *rows; /* by stack */
    size_t row_count;
    struct arena arena;
    struct keyed_table python_shapes; /* struct python_shape, by stack */
};

void stack_facts_init(struct stack_facts *facts, struct model *model, struct frame_names *names);
void stack_facts_release(struct stack_facts *facts);

/* stack: not 0. NULL without memory. Borrowed until the next call. */
const struct stack_fact *stack_facts_of(struct stack_facts *facts, uint32_t stack);

/* The same after a frame of this class, which is called from where it was so before. */
bool is_inside_operator(bool was_inside, enum frame_class class);

/*
 * Equal for stacks with the same native functions, by name, below the innermost Python frame, and
 * the same lines of Python. Without recursion. Never 0.
 */
uint64_t stack_facts_shape(struct stack_facts *facts, uint32_t stack);

#endif
