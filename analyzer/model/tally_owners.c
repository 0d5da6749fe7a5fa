/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which block is meant when somebody names the owner, or the module, of an address.
 *
 * Of blocks that hold the address the smallest: a block of a pool, not the pool's own; and in each
 * pool the block that is it. Mostly the address is where a block starts, and as pools take their
 * blocks out of those of others, no block around it is smaller: the live set is asked, and nothing
 * is kept. From the first address within a block on, the blocks of the process are kept in order of
 * their addresses, too: those that are alive are put there when the next such address comes, and
 * those that are gone are taken out where they are met.
 */
#include "tally_state.h"

#include <stdlib.h>

#include "list.h"
#include "owned_blocks.h"

enum { RECENT_MAX = 1 << 16, HOLDERS_MAX = 32, SWEPT_LEAST = 1 << 10 };

/* One block of a pool that holds the address. */
struct holder {
    struct live_block block;
    uint16_t pool;
};

struct holders {
    struct holder rows[HOLDERS_MAX];
    size_t count;
};

void tally_keep_owners(struct tally *tally, struct owned_blocks *blocks)
{
    MT_ASSERT(!tally->observer);
    tally->owned = blocks;
}

void address_order_release(struct address_order *order)
{
    ordered_set_release(&order->set);
    free(order->recent);
    *order = (struct address_order){0};
}

static uint16_t pool_of(const struct tally *tally, uint32_t group)
{
    return ledger_at(tally, tally->group_ledgers[group])->pool;
}

/* Of a pool, the newest block is meant. */
static void holder_put(struct holders *holders, const struct live_block *block, uint16_t pool)
{
    for (size_t i = 0; i < holders->count; i++) {
        struct holder *row = &holders->rows[i];

        if (row->pool != pool)
            continue;
        if ((int32_t)(block->birth - row->block.birth) > 0)
            row->block = *block;
        return;
    }
    if (holders->count < HOLDERS_MAX)
        holders->rows[holders->count++] = (struct holder){*block, pool};
}

/* --- where blocks start ----------------------------------------------------------------------- */

static void holders_at(const struct tally *tally, uint64_t address, struct holders *holders)
{
    struct live_place place = live_set_find(&tally->live, live_hash(address), address);

    for (; place.bucket; place = live_set_find_next(&tally->live, address, place)) {
        struct live_block block = live_set_at(&tally->live, place);

        if (block.size_bytes)
            holder_put(holders, &block, pool_of(tally, block.group));
    }
}

/* --- within blocks ---------------------------------------------------------------------------- */

/* Addresses from above, so that the first at or after an address starts there or next below it. */
static struct ordered_key key_of(uint16_t pool, uint64_t address, uint32_t birth)
{
    return (struct ordered_key){pool, ~address, birth};
}

/* The block of the key, if it is alive. */
static bool find_alive(const struct tally *tally, const struct ordered_key *key,
                       struct live_block *block)
{
    uint64_t address = ~key->second;
    struct live_place place = live_set_find(&tally->live, live_hash(address), address);

    for (; place.bucket; place = live_set_find_next(&tally->live, address, place)) {
        *block = live_set_at(&tally->live, place);
        if (block->birth == key->third && pool_of(tally, block->group) == key->first)
            return true;
    }
    return false;
}

static void order_add(struct tally *tally, struct ordered_key key)
{
    if (!ordered_set_add(&tally->order.set, key, 0))
        tally->has_failed = true;
}

static void add_alive(void *context, const struct live_block *block)
{
    struct tally *tally = context;

    order_add(tally, key_of(pool_of(tally, block->group), block->address, block->birth));
}

static void order_begin(struct tally *tally)
{
    ordered_set_release(&tally->order.set);
    ordered_set_init(&tally->order.set);
    live_set_each(&tally->live, add_alive, tally);
    tally->order.recent_count = 0;
    tally->order.is_kept = true;
}

/* Of those that came since, most are gone again. */
static void recent_settle(struct tally *tally)
{
    struct address_order *order = &tally->order;
    struct live_block block;

    for (size_t i = 0; i < order->recent_count; i++)
        if (find_alive(tally, &order->recent[i], &block))
            order_add(tally, order->recent[i]);
    order->recent_count = 0;
}

void tally_order_block(struct tally *tally, const struct live_block *block)
{
    struct address_order *order = &tally->order;

    if (order->recent_count == RECENT_MAX)
        recent_settle(tally);
    if (!list_has_room(&order->recent, &order->recent_capacity, order->recent_count,
                       sizeof(*order->recent))) {
        tally->has_failed = true;
        return;
    }
    order->recent[order->recent_count++] =
        key_of(pool_of(tally, block->group), block->address, block->birth);
}

/* The block of the pool that starts at the address or next below it. */
static bool find_at_or_below(struct tally *tally, uint16_t pool, uint64_t address,
                             struct live_block *block)
{
    struct ordered_set *set = &tally->order.set;
    const struct ordered_node *node;

    while ((node = ordered_set_at_least(set, key_of(pool, address, 0))) &&
           node->key.first == pool) {
        struct ordered_key key = node->key;

        if (find_alive(tally, &key, block))
            return true;
        ordered_set_remove(set, key);
    }
    return false;
}

static void order_reach(struct tally *tally)
{
    if (!tally->order.is_kept ||
        tally->order.set.count > 2 * live_set_count(&tally->live) + SWEPT_LEAST)
        order_begin(tally);
    else
        recent_settle(tally);
}

static void holders_of(struct tally *tally, uint64_t address, struct holders *holders)
{
    order_reach(tally);
    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++) {
        uint16_t pool = tally->ledgers[i].pool;
        struct live_block block;

        if (find_at_or_below(tally, pool, address, &block) &&
            address - block.address < block.size_bytes)
            holder_put(holders, &block, pool);
    }
}

/* --- naming ----------------------------------------------------------------------------------- */

static const struct live_block *smallest_of(const struct holders *holders)
{
    const struct live_block *smallest = &holders->rows[0].block;

    for (size_t i = 1; i < holders->count; i++)
        if (holders->rows[i].block.size_bytes < smallest->size_bytes)
            smallest = &holders->rows[i].block;
    return smallest;
}

static void block_name(struct tally *tally, const struct live_block *block,
                       const struct event *event)
{
    const struct group_detail *detail = table_at(&tally->details, block->group);
    uint64_t alloc = tally_number_of(tally, block->birth);

    if (event->kind == EVENT_BLOCK_NN_MODULE)
        owned_blocks_place(tally->owned, alloc, event->text);
    else
        owned_blocks_name(tally->owned, alloc, detail->owner_text, event->text);
}

void tally_name_block(struct tally *tally, const struct event *event)
{
    struct holders holders = {.count = 0};
    const struct live_block *smallest;

    if (!tally->owned || !event->text)
        return;
    holders_at(tally, event->address, &holders);
    if (!holders.count)
        holders_of(tally, event->address, &holders);
    if (!holders.count)
        return;
    smallest = smallest_of(&holders);
    for (size_t i = 0; i < holders.count; i++)
        if (holders.rows[i].block.address == smallest->address &&
            holders.rows[i].block.size_bytes == smallest->size_bytes)
            block_name(tally, &holders.rows[i].block, event);
}
