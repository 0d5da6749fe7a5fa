/* SPDX-License-Identifier: Apache-2.0 */
#include "stack_set.h"

#include <string.h>

#include "leaktide/invariant.h"

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

static uint32_t smaller(uint32_t left, uint32_t right)
{
    return left < right ? left : right;
}

/* At most three eighths for slots and stacks, the rest for nodes: three or four for a stack. */
void stack_set_init(struct stack_set *set, void *memory, size_t size_bytes)
{
    const size_t slot_bytes =
        sizeof(*set->tags) + sizeof(*set->ids) + sizeof(*set->stacks) / STACK_SET_SLOTS_PER_STACK;
    size_t slot_max = 1, node_max;
    char *at = memory;

    MT_ASSERT(size_bytes >= STACK_SET_MIN_BYTES);
    memset(set, 0, sizeof(*set));
    while (slot_max <= UINT32_MAX / 4 && 2 * slot_max * slot_bytes <= size_bytes / 8 * 3)
        slot_max *= 2;
    set->slot_max = (uint32_t)slot_max;
    set->stack_max = set->slot_max / STACK_SET_SLOTS_PER_STACK;
    set->tags = (uint8_t *)at;
    at += slot_max * sizeof(*set->tags);
    set->ids = (uint32_t *)(void *)at;
    at += slot_max * sizeof(*set->ids);
    set->stacks = (struct stack_entry *)at;
    at += set->stack_max * sizeof(*set->stacks);
    set->nodes = (struct stack_node *)at;
    node_max = (size_bytes - (size_t)(at - (char *)memory)) / sizeof(*set->nodes);
    set->node_max = node_max < UINT32_MAX ? (uint32_t)node_max : UINT32_MAX;
    set->node_count = 1;
    set->slot_count = smaller(STACK_SET_FIRST_SLOTS, set->slot_max);
    set->first_id = 1;
}

/* --- slots ------------------------------------------------------------------------------ */

/* Of the bits that do not tell the slot; never 0. */
static inline uint8_t tag_of(uint32_t hash)
{
    return (uint8_t)(hash >> 24 | 1);
}

static inline uint32_t slot_first(const struct stack_set *set, uint32_t hash)
{
    return hash & (set->slot_count - 1);
}

static inline uint32_t slot_after(const struct stack_set *set, uint32_t slot)
{
    return (slot + 1) & (set->slot_count - 1);
}

static void slot_fill(struct stack_set *set, uint32_t hash, uint32_t id)
{
    uint32_t slot = slot_first(set, hash);

    while (set->tags[slot])
        slot = slot_after(set, slot);
    set->tags[slot] = tag_of(hash);
    set->ids[slot] = id;
}

/* Is the slot found by the hash of its stack? */
static bool slot_is_reached(const struct stack_set *set, uint32_t slot)
{
    uint32_t hash = set->stacks[set->ids[slot] - set->first_id].hash, at = slot_first(set, hash);

    while (at != slot && set->tags[at])
        at = slot_after(set, at);
    return at == slot && set->tags[slot] == tag_of(hash);
}

static void slots_check(const struct stack_set *set)
{
    uint32_t filled = 0;

    for (uint32_t i = 0; i < set->slot_count; i++) {
        filled += set->tags[i] != 0;
        MT_ASSERT(!set->tags[i] || set->ids[i] - set->first_id < set->stack_count);
        MT_ASSERT(!set->tags[i] || slot_is_reached(set, i));
    }
    MT_ASSERT(filled == set->stack_count);
}

void stack_set_check(const struct stack_set *set)
{
    MT_ASSERT(set->slot_count && !(set->slot_count & (set->slot_count - 1)));
    MT_ASSERT(set->slot_count <= set->slot_max);
    MT_ASSERT(set->stack_count <= set->stack_max);
    MT_ASSERT(set->node_count && set->node_count <= set->node_max);
    MT_ASSERT(STACK_SET_SLOTS_PER_STACK * (uint64_t)set->stack_count <= set->slot_count);
    MT_ASSERT(!set->here[0]);
    MT_ASSERT(set->written_count <= UNWIND_MAX_FRAMES);
    MT_ASSERT(set->last_count <= UNWIND_MAX_FRAMES);
    MT_ASSERT(set->here_count <= set->last_count);
    for (uint32_t i = 1; i < set->node_count; i++)
        MT_ASSERT(set->nodes[i].outer < i);
    for (uint32_t i = 0; i < set->stack_count; i++)
        MT_ASSERT(set->stacks[i].node && set->stacks[i].node < set->node_count &&
                  set->stacks[i].next <= set->stack_count);
    slots_check(set);
}

static void slots_double(struct stack_set *set)
{
    if (MT_ASSERTS)
        stack_set_check(set);
    memset(set->tags, 0, set->slot_count * sizeof(*set->tags));
    set->slot_count *= 2;
    for (uint32_t i = 0; i < set->stack_count; i++)
        slot_fill(set, set->stacks[i].hash, set->first_id + i);
}

static void begin_anew(struct stack_set *set)
{
    memset(set->tags, 0, set->slot_count * sizeof(*set->tags));
    set->slot_count = smaller(STACK_SET_FIRST_SLOTS, set->slot_max);
    set->first_id += set->stack_count;
    set->stack_count = 0;
    set->node_count = 1;
    set->last_place = 0;
    set->restart_count++;
}

void stack_set_restart(struct stack_set *set)
{
    begin_anew(set);
    set->last_number = 0;
    set->written_count = 0;
}

/* --- nodes ------------------------------------------------------------------------------ */

static bool node_is(const struct stack_node *node, uint64_t pc)
{
    return node->pc_low == (uint32_t)pc && node->pc_high == (uint32_t)(pc >> 32);
}

/* Does `node` stand for the first `at` pcs? That it does where `here` has it is known. */
static bool is_prefix(const struct stack_set *set, uint32_t node, const uint64_t *pcs, uint32_t at)
{
    for (; set->here[at] != node; at--) {
        if (at == 0 || !node_is(&set->nodes[node], pcs[at - 1]))
            return false;
        node = set->nodes[node].outer;
    }
    return true;
}

/*
 * Is the stack that ends in `node` this one? Those of its first `known_count` pcs are in
 * set->here; on success the others are too, on failure they are nobody's.
 */
static inline bool is_stack(struct stack_set *set, uint32_t node, const struct unwind_stack *stack,
                            uint32_t known_count)
{
    const struct stack_node *nodes = set->nodes;
    const uint64_t *pcs = stack->pcs;
    uint32_t *here = set->here;

    for (uint32_t at = stack->count; at > known_count; at--) {
        if (UNLIKELY(!node_is(&nodes[node], pcs[at - 1])))
            return false;
        here[at] = node;
        node = nodes[node].outer;
    }
    return LIKELY(here[known_count] == node) || is_prefix(set, node, pcs, known_count);
}

/* Is the stack of this place + 1 the one? */
static inline bool is_at(struct stack_set *set, const struct unwind_stack *stack,
                         uint32_t known_count, uint32_t place)
{
    const struct stack_entry *entry = &set->stacks[place - 1];

    return entry->hash == (uint32_t)stack->hash && is_stack(set, entry->node, stack, known_count);
}

/* Its place + 1; 0: it is new. */
static inline uint32_t find(struct stack_set *set, const struct unwind_stack *stack,
                            uint32_t known_count)
{
    uint32_t hash = (uint32_t)stack->hash, slot = slot_first(set, hash);
    uint32_t next = set->last_place ? set->stacks[set->last_place - 1].next : 0;

    if (LIKELY(next) && LIKELY(is_at(set, stack, known_count, next)))
        return next;
    for (; set->tags[slot]; slot = slot_after(set, slot)) {
        uint32_t place = set->ids[slot] - set->first_id + 1;

        if (set->tags[slot] == tag_of(hash) && is_at(set, stack, known_count, place))
            return place;
    }
    return 0;
}

static void add_nodes(struct stack_set *set, const struct unwind_stack *stack, uint32_t known_count)
{
    uint32_t outer = set->here[known_count];

    for (uint32_t at = known_count; at < stack->count; at++) {
        uint64_t pc = stack->pcs[at];

        set->nodes[set->node_count] =
            (struct stack_node){outer, (uint32_t)pc, (uint32_t)(pc >> 32)};
        outer = set->here[at + 1] = set->node_count++;
    }
}

/* Room for the stack? known_count gets 0 if everything had to be forgotten for it. */
static bool make_room(struct stack_set *set, const struct unwind_stack *stack,
                      uint32_t *known_count)
{
    if (set->stack_count >= set->stack_max ||
        set->node_max - set->node_count < stack->count - *known_count) {
        if (set->stack_count == 0 || set->node_max <= stack->count)
            return false;
        begin_anew(set);
        *known_count = 0;
    }
    if (set->stack_count >= UINT32_MAX - set->first_id)
        return false;
    if (STACK_SET_SLOTS_PER_STACK * (set->stack_count + 1) > set->slot_count)
        slots_double(set);
    return true;
}

static uint32_t add(struct stack_set *set, const struct unwind_stack *stack, uint32_t known_count)
{
    uint32_t hash = (uint32_t)stack->hash, id;

    if (!make_room(set, stack, &known_count))
        return 0;
    add_nodes(set, stack, known_count);
    id = set->first_id + set->stack_count;
    set->stacks[set->stack_count++] = (struct stack_entry){set->here[stack->count], hash, 0};
    slot_fill(set, hash, id);
    return id;
}

static __attribute__((noinline)) void name_new(struct stack_set *set,
                                               const struct unwind_stack *stack,
                                               uint32_t known_count, struct stack_name *name)
{
    name->id = add(set, stack, known_count);
    name->is_new = name->id != 0;
    name->shared_count = name->is_new ? set->written_count : 0;
    set->written_count = name->is_new ? stack->count : 0;
    set->unnamed_count += !name->is_new;
}

static inline void note_next(struct stack_set *set, uint32_t place)
{
    if (LIKELY(set->last_place))
        set->stacks[set->last_place - 1].next = place;
    set->last_place = place;
}

void stack_set_look_up(struct stack_set *set, const struct unwind_stack *stack,
                       struct stack_name *name)
{
    uint32_t same_count = stack->number == set->last_number + 1 ? stack->reused_count : 0;
    uint32_t known_count = smaller(same_count, set->here_count);
    uint32_t place;

    MT_ASSERT(stack->count <= UNWIND_MAX_FRAMES);
    MT_ASSERT(stack->reused_count <= stack->count);
    MT_ASSERT(known_count <= set->last_count);
    *name = (struct stack_name){0, false, 0};
    set->last_number = 0;
    if (UNLIKELY(stack->count == 0))
        return;
    set->written_count = smaller(set->written_count, same_count);
    place = find(set, stack, known_count);
    if (LIKELY(place))
        name->id = set->first_id + place - 1;
    else
        name_new(set, stack, known_count, name);
    if (LIKELY(name->id)) {
        note_next(set, name->id - set->first_id + 1);
        set->last_number = stack->number;
        set->last_id = name->id;
        set->last_count = set->here_count = stack->count;
    }
}
