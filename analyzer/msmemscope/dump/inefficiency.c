/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts calls, and judges each block when it is used or given back.
 */
#include "inefficiency.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "block_use.h"
#include "hash.h"
#include "hash_index.h"
#include "table.h"

enum { LANES_MOST = 4096 };

/* One process and family of pools, with its own count of calls. */
struct lane {
    uint64_t process_id;
    enum dump_pool pool;
    uint64_t call;
    uint64_t last_malloc_call, last_free_call; /* 0: none yet */
    uint32_t open_operators;
    bool has_malloc, has_free; /* in the operator that runs */
    bool has_dispatcher;       /* an operator had its name */
    bool is_over;              /* the program ended the recording */
    size_t first_block;        /* those before it are of before the recording */
};

struct block {
    uint64_t process_id, key;
    struct block_use use;
    uint32_t number;
    uint8_t types;
    bool is_gone;
    bool was_used_later; /* in another call than the one that took it */
};

struct inefficiency {
    struct arena arena;
    struct table lanes, blocks, found;
    struct hash_index index; /* of the blocks, by process and key */
    uint32_t idle_threshold;
};

struct inefficiency *inefficiency_create(uint32_t idle_threshold)
{
    struct inefficiency *made = calloc(1, sizeof(*made));

    if (!made)
        return NULL;
    made->idle_threshold = idle_threshold;
    arena_init(&made->arena);
    table_init(&made->lanes, &made->arena, sizeof(struct lane));
    table_init(&made->blocks, &made->arena, sizeof(struct block));
    table_init(&made->found, &made->arena, sizeof(struct block *));
    hash_index_init(&made->index);
    return made;
}

void inefficiency_destroy(struct inefficiency *inefficiency)
{
    if (!inefficiency)
        return;
    hash_index_release(&inefficiency->index);
    arena_release(&inefficiency->arena);
    free(inefficiency);
}

static struct lane *lane_of(struct inefficiency *all, const struct inefficiency_event *event)
{
    struct lane *lane;

    for (size_t i = 0; i < all->lanes.count; i++) {
        lane = table_at(&all->lanes, i);
        if (lane->process_id == event->process_id && lane->pool == event->pool)
            return lane;
    }
    lane = all->lanes.count < LANES_MOST ? table_add(&all->lanes) : NULL;
    if (lane) {
        lane->process_id = event->process_id;
        lane->pool = event->pool;
    }
    return lane;
}

static struct block *block_find(struct inefficiency *all, const struct lane *lane,
                                const struct inefficiency_event *event)
{
    size_t probe = 0;
    uint32_t row;

    while (hash_index_next(&all->index, hash_pair(event->process_id, event->block), &probe, &row)) {
        struct block *block = table_at(&all->blocks, row);

        if (row >= lane->first_block && !block->is_gone && block->key == event->block &&
            block->process_id == event->process_id)
            return block;
    }
    return NULL;
}

static bool block_mark(struct inefficiency *all, struct block *block, enum dump_inefficient type)
{
    if (!block->types) {
        struct block **row = table_add(&all->found);

        if (!row)
            return false;
        *row = block;
    }
    block->types |= (uint8_t)type;
    return true;
}

static bool is_call(struct lane *lane, const char *name)
{
    static const char prefix[] = "torch._ops.";
    bool is_of_dispatcher = name && strncmp(name, prefix, sizeof(prefix) - 1) == 0;

    if (is_of_dispatcher && !lane->has_dispatcher) {
        lane->has_dispatcher = true;
        lane->open_operators = 0; /* the ends of others are passed over from now on */
    }
    return is_of_dispatcher || !lane->has_dispatcher;
}

static void operator_begin(struct lane *lane)
{
    lane->call++;
    lane->open_operators++;
}

static void operator_end(struct lane *lane)
{
    if (lane->open_operators)
        lane->open_operators--;
    if (lane->has_malloc)
        lane->last_malloc_call = lane->call;
    if (lane->has_free)
        lane->last_free_call = lane->call;
    lane->has_malloc = lane->has_free = false;
}

/* Time is counted in calls. */
static struct moment now_of(const struct lane *lane)
{
    return (struct moment){lane->call, lane->call};
}

static bool lies_between(struct moment before, uint64_t call, struct moment after)
{
    return before.position < call && call < after.position;
}

static bool block_taken(struct inefficiency *all, struct lane *lane,
                        const struct inefficiency_event *event)
{
    struct block *block = block_find(all, lane, event);

    if (block)
        block->is_gone = true; /* its end was not seen */
    block =
        hash_index_add_row(&all->index, hash_pair(event->process_id, event->block), &all->blocks);
    if (!block)
        return false;
    if (lane->open_operators) {
        lane->has_malloc = true;
    } else {
        lane->last_malloc_call = ++lane->call;
    }
    *block = (struct block){
        .process_id = event->process_id, .key = event->block, .number = event->number};
    block_use_begin(&block->use, now_of(lane));
    return true;
}

static bool block_used(struct inefficiency *all, struct lane *lane, struct block *block)
{
    struct block_use *use;
    bool is_later, is_early, is_idle;

    if (!lane->open_operators)
        lane->call++;
    if (!block)
        return true;
    use = &block->use;
    block_use_add(use, now_of(lane));
    is_later = !block->was_used_later && use->last.position != use->born.position;
    is_early = is_later && lies_between(use->born, lane->last_free_call, use->last);
    block->was_used_later |= is_later;
    is_idle = use->idle_to.position - use->idle_from.position > all->idle_threshold;
    return (!is_early || block_mark(all, block, DUMP_EARLY)) &&
           (!is_idle || block_mark(all, block, DUMP_IDLE));
}

static bool block_given_back(struct inefficiency *all, struct lane *lane, struct block *block)
{
    bool is_late;

    if (lane->open_operators)
        lane->has_free = true;
    else
        lane->last_free_call = ++lane->call;
    if (!block)
        return true;
    block->is_gone = true;
    is_late =
        block->use.count && lies_between(block->use.last, lane->last_malloc_call, now_of(lane));
    return !is_late || block_mark(all, block, DUMP_LATE);
}

static void trace_begin_or_end(struct inefficiency *all, const struct inefficiency_event *event)
{
    for (size_t i = 0; i < all->lanes.count; i++) {
        struct lane *lane = table_at(&all->lanes, i);

        if (lane->process_id != event->process_id)
            continue;
        lane->is_over = event->event == DUMP_TRACE_END;
        lane->first_block = all->blocks.count;
    }
}

bool inefficiency_take(struct inefficiency *inefficiency, const struct inefficiency_event *event)
{
    struct lane *lane;

    if (event->event == DUMP_TRACE_BEGIN || event->event == DUMP_TRACE_END)
        trace_begin_or_end(inefficiency, event);
    if (event->pool != DUMP_POOL_PTA && event->pool != DUMP_POOL_ATB &&
        event->pool != DUMP_POOL_MINDSPORE)
        return true;
    lane = lane_of(inefficiency, event);
    if (!lane)
        return false;
    if (lane->is_over)
        return true;
    switch (event->event) {
    case DUMP_OPERATOR_BEGIN:
        if (is_call(lane, event->name))
            operator_begin(lane);
        return true;
    case DUMP_OPERATOR_END:
        if (is_call(lane, event->name))
            operator_end(lane);
        return true;
    case DUMP_MALLOC:
        return block_taken(inefficiency, lane, event);
    case DUMP_ACCESS:
        return block_used(inefficiency, lane, block_find(inefficiency, lane, event));
    case DUMP_FREE:
        return block_given_back(inefficiency, lane, block_find(inefficiency, lane, event));
    default:
        return true;
    }
}

size_t inefficiency_count(const struct inefficiency *inefficiency)
{
    return inefficiency->found.count;
}

uint32_t inefficiency_at(const struct inefficiency *inefficiency, size_t index, uint32_t *types)
{
    struct block *const *row = table_at(&inefficiency->found, index);

    *types = (*row)->types;
    return (*row)->number;
}

void inefficiency_names(uint32_t types, char *text)
{
    static const struct {
        enum dump_inefficient type;
        const char *name;
    } names[] = {{DUMP_EARLY, "early_allocation"},
                 {DUMP_LATE, "late_deallocation"},
                 {DUMP_IDLE, "temporary_idleness"}};

    *text = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (types & names[i].type) {
            if (*text)
                strcat(text, ",");
            strcat(text, names[i].name);
        }
}
