/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which block an address lies in. A view of a tensor begins inside of a block of its pool, and a
 * framework may have taken the tensor from another pool than the one its marks are for.
 *
 * Addresses are counted from above, so that the first key that is not below is the next block
 * down. Kept only for recordings that have accesses.
 */
#include <string.h>

#include "memscope_source.h"

static struct ordered_key key_of(uint16_t pool, uint64_t address, uint64_t index)
{
    return (struct ordered_key){pool, ~address, index};
}

bool memscope_holder_add(struct memscope_source *source, const struct life *life, uint16_t pool)
{
    return !source->has_accesses ||
           ordered_set_add(&source->holders, key_of(pool, life->address, life->index), 0);
}

void memscope_holder_remove(struct memscope_source *source, const struct life *life, uint16_t pool)
{
    if (source->has_accesses)
        ordered_set_remove(&source->holders, key_of(pool, life->address, life->index));
}

static struct live_place holder_in(const struct memscope_source *source, uint64_t address,
                                   uint16_t pool)
{
    const struct ordered_node *node =
        ordered_set_at_least(&source->holders, key_of(pool, address, 0));
    uint64_t start = node ? ~node->key.second : 0;
    struct live_place place = {NULL, 0};

    if (!node || node->key.first != pool)
        return place;
    place = memscope_block_at(source, start, pool);
    if (place.bucket && address - start >= live_set_at(&source->live, place).size_bytes &&
        address != start)
        place.bucket = NULL;
    return place;
}

/* Where a pool is known its blocks are meant, and not the memory that it lies in. */
static bool is_searched(const struct memscope_source *source, size_t index, bool has_pool)
{
    return tally_ledger_at(source->question->tally, index)->process == source->process &&
           !(has_pool && source->ledgers[index].is_below);
}

struct live_place memscope_holder_of(const struct memscope_source *source, uint64_t address,
                                     uint16_t pool)
{
    struct live_place place = holder_in(source, address, pool);
    bool has_pool = false;

    for (size_t i = 0; !place.bucket && i < source->ledger_count; i++)
        has_pool |= is_searched(source, i, false) &&
                    tally_ledger_at(source->question->tally, i)->pool == pool;
    for (size_t i = 0; !place.bucket && i < source->ledger_count; i++)
        if (is_searched(source, i, has_pool))
            place = holder_in(source, address, tally_ledger_at(source->question->tally, i)->pool);
    return place;
}
