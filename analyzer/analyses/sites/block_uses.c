/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each block was used.
 *
 * Blocks that are alive stand in a tree by pool and address. Two of one pool never overlap, so a
 * key that lies inside of a block is equal to it.
 */
#define _GNU_SOURCE /* tdestroy */
#include "block_uses.h"

#include <search.h>
#include <stdlib.h>

struct node {
    uint64_t address, size_bytes;
    uint64_t index; /* of the life */
    struct block_use use;
    uint16_t pool;
};

struct reading {
    const struct tally *tally;
    const struct use_visitor *visitor;
    void *tree;
    struct moment now;
    bool counts_launches; /* no operators are known */
    uint64_t missed_count;
    bool has_failed;
};

static int node_compare(const void *left, const void *right)
{
    const struct node *a = left, *b = right;

    if (a->pool != b->pool)
        return a->pool > b->pool ? 1 : -1;
    if (a->address < b->address)
        return b->address - a->address >= a->size_bytes ? -1 : 0;
    return a->address - b->address >= b->size_bytes ? 1 : 0;
}

/* Every block takes at least one byte, so that two at one address are one. */
static struct node key_of(uint16_t pool, uint64_t address, uint64_t size_bytes)
{
    return (struct node){
        .pool = pool, .address = address, .size_bytes = size_bytes ? size_bytes : 1};
}

static struct node *node_find(struct reading *reading, uint16_t pool, uint64_t address)
{
    struct node key = key_of(pool, address, 1);
    void *found = tfind(&key, &reading->tree, node_compare);

    return found ? *(struct node **)found : NULL;
}

static bool on_born(void *context, const struct life *life)
{
    struct reading *reading = context;
    uint16_t pool = tally_ledger_at(reading->tally, life->ledger)->pool;
    struct node *node = malloc(sizeof(*node));
    void *found;

    if (!node) {
        reading->has_failed = true;
        return false;
    }
    *node = key_of(pool, life->address, life->size_bytes);
    node->index = life->index;
    block_use_begin(&node->use, reading->now);
    found = tsearch(node, &reading->tree, node_compare);
    if (!found)
        reading->has_failed = true;
    if (!found || *(struct node **)found != node)
        free(node); /* the source lets two blocks overlap: the older one keeps its place */
    return !reading->has_failed;
}

static bool on_over(void *context, const struct life *life)
{
    struct reading *reading = context;
    struct node *node =
        node_find(reading, tally_ledger_at(reading->tally, life->ledger)->pool, life->address);
    bool goes_on;

    if (!node || node->index != life->index)
        return true;
    node->use.freed = reading->now;
    goes_on = reading->visitor->over(reading->visitor->context, life, &node->use);
    tdelete(node, &reading->tree, node_compare);
    free(node);
    return goes_on;
}

static void count_use(struct reading *reading, const struct event *event)
{
    struct node *node = node_find(reading, event->pool, event->address);

    if (node)
        block_use_add(&node->use, reading->now);
    else
        reading->missed_count++;
}

static bool on_event(void *context, const struct event *event)
{
    struct reading *reading = context;

    reading->now.time_ns = event->time_ns;
    if (event->kind == (reading->counts_launches ? EVENT_LAUNCH : EVENT_OPERATOR_BEGIN))
        reading->now.position++;
    else if (event->kind == EVENT_ACCESS)
        count_use(reading, event);
    return true;
}

enum mt_result uses_read(const struct question *question, const struct use_visitor *visitor,
                         uint64_t *missed_count, struct mt_error *error)
{
    struct reading reading = {.tally = question->tally, .visitor = visitor};
    struct life_visitor lives = {
        .context = &reading, .born = on_born, .over = on_over, .event = on_event};
    enum mt_result result;

    reading.counts_launches = !tally_event_count(question->tally, EVENT_OPERATOR_BEGIN);
    result = lives_read(question->events, tally_model(question->tally), &lives, error);
    tdestroy(reading.tree, free);
    if (result == MT_OK && reading.has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for the uses of blocks");
    *missed_count = reading.missed_count;
    return result;
}
