/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements device_blocks.h with an open hash table of fixed size.
 *
 * A slot is taken by its key word: space, state and address in one. Other fields are written while
 * the state is WRITING and read while it is LIVE. Two calls that fight for the same address are a
 * mistake of the program; the table then stays whole, whatever it says of that block.
 *
 *   empty -> WRITING -> LIVE -> GONE -> WRITING -> ...
 */
#include "device_blocks.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "config.h"
#include "leaktide/invariant.h"
#include "own_memory.h"
#include "recording.h"
#include "watch.h"

enum {
    TABLE_BITS = 17,
    PROBE_MAX = 64,
    ADDRESS_BITS = 54, /* then 2 bits of state, then 8 of space */
};

enum slot_state { STATE_WRITING = 1, STATE_LIVE = 2, STATE_GONE = 3 };

struct slot {
    _Atomic uint64_t key; /* 0: never used, a search ends here */
    _Atomic uint32_t references;
    struct device_block block;
};

static struct slot *_Atomic table; /* mapped for the first block: most programs have none */

static uint64_t key_of(enum block_space space, uint64_t address, enum slot_state state)
{
    MT_ASSERT(space && !((unsigned)space >> 8));
    MT_ASSERT(!(address >> ADDRESS_BITS));
    return (uint64_t)space << 56 | (uint64_t)state << ADDRESS_BITS | address;
}

static bool is_tracked(uint64_t address)
{
    return address && !(address >> ADDRESS_BITS);
}

static unsigned slot_state_of(uint64_t key)
{
    return (unsigned)(key >> ADDRESS_BITS & 3);
}

static struct slot *slot_at(enum block_space space, uint64_t address, unsigned probe)
{
    uint64_t hash = (address ^ (uint64_t)space << 56) * UINT64_C(0x9e3779b97f4a7c15);

    return &atomic_load_explicit(
        &table,
        memory_order_acquire)[((hash >> (64 - TABLE_BITS)) + probe) & ((1u << TABLE_BITS) - 1)];
}

static struct slot *slot_find(enum block_space space, uint64_t address)
{
    uint64_t wanted;

    if (!is_tracked(address) || !atomic_load_explicit(&table, memory_order_acquire))
        return NULL;
    wanted = key_of(space, address, STATE_LIVE);
    for (unsigned probe = 0; probe < PROBE_MAX; probe++) {
        struct slot *slot = slot_at(space, address, probe);
        uint64_t key = atomic_load_explicit(&slot->key, memory_order_acquire);

        if (key == wanted)
            return slot;
        if (!key)
            return NULL;
    }
    return NULL;
}

static bool table_make(void)
{
    const size_t size_bytes = sizeof(struct slot) << TABLE_BITS;
    struct slot *none = NULL, *made;

    if (atomic_load_explicit(&table, memory_order_acquire))
        return true;
    made = recording_makes_no_calls() ? NULL : own_memory_map(size_bytes);
    if (!made)
        return false;
    if (!atomic_compare_exchange_strong(&table, &none, made))
        own_memory_unmap(made, size_bytes);
    return true;
}

static struct slot *slot_take(enum block_space space, uint64_t address)
{
    uint64_t writing = key_of(space, address, STATE_WRITING);

    for (unsigned probe = 0; probe < PROBE_MAX; probe++) {
        struct slot *slot = slot_at(space, address, probe);
        uint64_t key = atomic_load_explicit(&slot->key, memory_order_acquire);

        if ((!key || slot_state_of(key) == STATE_GONE) &&
            atomic_compare_exchange_strong_explicit(&slot->key, &key, writing, memory_order_acq_rel,
                                                    memory_order_relaxed))
            return slot;
    }
    return NULL;
}

static void block_remember(enum block_space space, uint64_t address,
                           const struct device_block *block)
{
    struct slot *slot = slot_find(space, address);

    /* Still there: freed behind our back. Its memory is this block's now. */
    if (slot)
        atomic_store_explicit(&slot->key, key_of(space, address, STATE_GONE), memory_order_release);
    slot = is_tracked(address) && table_make() ? slot_take(space, address) : NULL;
    if (!slot)
        return;
    slot->block = *block;
    atomic_store_explicit(&slot->references, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->key, key_of(space, address, STATE_LIVE), memory_order_release);
}

/* Takes one reference away. Returns how many there were; 0 = the address is not known. */
static uint32_t reference_drop(struct slot *slot)
{
    uint32_t references = atomic_load_explicit(&slot->references, memory_order_relaxed);

    while (references &&
           !atomic_compare_exchange_weak_explicit(&slot->references, &references, references - 1,
                                                  memory_order_acq_rel, memory_order_relaxed))
        ;
    return references;
}

static void block_record(uint64_t address, const struct device_block *block)
{
    if (block->pool)
        record_alloc(*block->pool, block->place, address, block->size_bytes, block->site);
}

/* Ends one reference of a known block; false if the block is not known. */
static bool block_end_one(enum block_space space, uint64_t address, struct block_ending *ending)
{
    struct ended_block *ended = &ending->ended[ending->count];
    struct slot *slot = slot_find(space, address);
    uint32_t references = slot ? reference_drop(slot) : 0;

    MT_ASSERT(ending->count < sizeof(ending->ended) / sizeof(ending->ended[0]));
    if (!references)
        return false;
    ended->block = slot->block;
    ended->address = address;
    ended->space = space;
    ended->was_last = references == 1;
    ending->count++;
    if (ended->was_last) {
        if (watch_is_on() && slot->block.size_bytes)
            watch_forget(address, ended->block.size_bytes);
        if (ended->block.pool)
            record_free(*ended->block.pool, address);
        atomic_store_explicit(&slot->key, key_of(space, address, STATE_GONE), memory_order_release);
    }
    return true;
}

static enum block_space space_beside(enum block_space space)
{
    switch (space) {
    case SPACE_ACL_MEMORY:
        return SPACE_ACL_ASYNC;
    case SPACE_ACL_ASYNC:
        return SPACE_ACL_MEMORY;
    default:
        return space;
    }
}

bool device_hook_enter(enum layer layer)
{
    return config_get()->records_device && guard_enter(layer);
}

void device_hook_leave(enum layer layer, int saved_errno)
{
    guard_leave(layer);
    errno = saved_errno;
}

void device_block_begin(enum block_space space, uint64_t address, const struct device_block *block)
{
    if (!address)
        return;
    if (block->held)
        device_block_hold(block->held_space, block->held);
    block_remember(space, address, block);
    block_record(address, block);
}

void device_block_share(enum block_space space, uint64_t address, const struct device_block *block)
{
    if (slot_find(space, address))
        device_block_hold(space, address);
    else
        device_block_begin(space, address, block);
}

void device_block_hold(enum block_space space, uint64_t address)
{
    struct slot *slot = slot_find(space, address);

    if (slot)
        atomic_fetch_add_explicit(&slot->references, 1, memory_order_acq_rel);
}

void device_block_failed(const struct device_block *block, uint64_t status)
{
    if (block->pool)
        record_alloc_failed(*block->pool, block->place, block->size_bytes, status, block->site);
}

void device_block_end(enum block_space space, uint64_t address, const struct text *pool,
                      struct block_ending *ending)
{
    ending->count = 0;
    if (!address)
        return;
    if (!block_end_one(space, address, ending) &&
        !block_end_one(space_beside(space), address, ending)) {
        if (pool)
            record_free(*pool, address);
        return;
    }
    if (ending->ended[0].was_last && ending->ended[0].block.held)
        block_end_one(ending->ended[0].block.held_space, ending->ended[0].block.held, ending);
}

void device_block_resume(const struct block_ending *ending)
{
    for (unsigned i = 0; i < ending->count; i++) {
        const struct ended_block *ended = &ending->ended[i];

        if (!ended->was_last) {
            device_block_hold(ended->space, ended->address);
        } else {
            block_remember(ended->space, ended->address, &ended->block);
            block_record(ended->address, &ended->block);
        }
    }
}

bool device_block_find(enum block_space space, uint64_t address, struct device_block *block)
{
    struct slot *slot = slot_find(space, address);

    if (slot)
        *block = slot->block;
    return slot != NULL;
}
