/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack is written once, then named by its id. One set per thread.
 *
 *     nodes    (outer node, pc): a stack is its innermost node; outer parts are shared
 *     stacks   id -> innermost node, hash
 *     slots    hash -> id; a power of two of them, at most half full. Each has a tag, eight bits
 *              of the hash, in a table of its own
 *
 * Programs repeat themselves: after a stack comes the one that came after it last time. So that one
 * is tried before the slots, of which each would be another place in a large table. Programs also
 * do what they never did: then the tags say so, and they stay in a near cache.
 *
 * A hash only proposes: a stack is taken for another when all its pcs are equal. For that the set
 * knows the nodes of the thread's last stack. What unwind_capture took over from there need not be
 * compared: as soon as both stand on the same node, all further out is the same.
 *
 * A stack that the unwinder knows again has its id already (unwind_stack.name): it is not looked
 * up. Then `here` is right for fewer pcs, those that all stacks since then had in common.
 *
 * Memory is handed in and never grows. When it is full, everything is forgotten and the set begins
 * anew; ids go on, so an id never means two stacks, but a stack may get a second id.
 * restart_count counts that. About 12 bytes per frame that a new stack does not share with the
 * thread's last one, and 22 bytes per stack.
 */
#ifndef LEAKTIDE_TRACER_STACK_SET_H
#define LEAKTIDE_TRACER_STACK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinder.h"

enum {
    STACK_SET_FIRST_SLOTS = 256,
    STACK_SET_SLOTS_PER_STACK = 2, /* at least */
    STACK_SET_MIN_BYTES = 1 << 16
};

struct stack_node {
    uint32_t outer; /* 0: none */
    uint32_t pc_low, pc_high;
};

struct stack_entry {
    uint32_t node;
    uint32_t hash; /* its lower half: tells the slot, at any number of slots */
    uint32_t next; /* place + 1 of the stack that came after it; 0: none has */
};

struct stack_set {
    struct stack_node *nodes; /* [0] is no node */
    struct stack_entry *stacks;
    uint8_t *tags; /* of slots; 0: empty */
    uint32_t *ids; /* of slots that have a tag */
    uint32_t node_count, node_max;
    uint32_t stack_count, stack_max;
    uint32_t slot_count, slot_max; /* in use now; powers of two */
    uint32_t first_id;             /* of stacks[0] */
    uint32_t restart_count;
    uint64_t unnamed_count; /* stacks that got no id: 2^32 ids are spent, or no memory at all */
    uint64_t last_number;   /* of the last capture that was looked up */
    uint32_t last_id;       /* of that capture */
    uint32_t last_count;    /* of its pcs */
    uint32_t here_count;    /* so many of `here` are those of its pcs */
    uint32_t last_place; /* + 1, of the last one that was looked up in stacks; 0: none since then */
    uint32_t written_count; /* of pcs, the first that are those of the last new stack */
    uint32_t here[1 + UNWIND_MAX_FRAMES]; /* nodes of the first n pcs of the last stack, [0] is 0 */
};

/* What the caller has to write when is_new. */
struct stack_name {
    uint32_t id; /* 0: none */
    bool is_new;
    uint32_t shared_count; /* if new: the first pcs that the last new stack of this set has too */
};

/* memory: zeros, aligned to 8, at least STACK_SET_MIN_BYTES. Kept until the thread ends. */
void stack_set_init(struct stack_set *set, void *memory, size_t size_bytes);

/* So much of the memory is in use. */
static inline uint64_t stack_set_filled_bytes(const struct stack_set *set)
{
    return set->node_count * sizeof(*set->nodes) + set->stack_count * sizeof(*set->stacks) +
           set->slot_count * (sizeof(*set->ids) + sizeof(*set->tags));
}

/* Asserts that slots, stacks and nodes belong together. */
void stack_set_check(const struct stack_set *set);

/* Forgets all stacks: each gets a new id when it comes again, and has to be written again. */
void stack_set_restart(struct stack_set *set);

/* The same as below, where the stack is not the one before. */
void stack_set_look_up(struct stack_set *set, const struct unwind_stack *stack,
                       struct stack_name *name);

/* The stack has its id already. */
static inline void stack_set_is_named(struct stack_set *set, const struct unwind_stack *stack)
{
    uint32_t same_count = stack->number == set->last_number + 1 ? stack->reused_count : 0;

    set->here_count = set->here_count < same_count ? set->here_count : same_count;
    set->written_count = set->written_count < same_count ? set->written_count : same_count;
    set->last_number = stack->number;
    set->last_id = *stack->name;
    set->last_count = stack->count;
    set->last_place = set->last_id - set->first_id + 1;
}

/*
 * Has a stack that is not laid out its id already, *stack->name? The one that comes next then comes
 * after it.
 */
static inline bool stack_set_knows(struct stack_set *set, const struct unwind_stack *stack)
{
    if (*stack->name < set->first_id)
        return false;
    set->last_place = *stack->name - set->first_id + 1;
    return true;
}

/*
 * stack: of the last unwind_capture in this thread, laid out. name: is written field by field and
 * not returned, as what is loaded as a whole after that waits for all stores before it.
 */
static inline void stack_set_find(struct stack_set *set, const struct unwind_stack *stack,
                                  struct stack_name *name)
{
    if (stack->reused_count == stack->count && stack->count == set->last_count &&
        stack->number == set->last_number + 1) {
        set->last_number = stack->number;
    } else if (stack->name && *stack->name >= set->first_id) {
        stack_set_is_named(set, stack);
    } else {
        stack_set_look_up(set, stack, name);
        if (stack->name)
            *stack->name = name->id;
        return;
    }
    name->id = set->last_id;
    name->is_new = false;
    name->shared_count = 0;
}

#endif
