/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live blocks by the allocation id of the source; rows of blocks that have gone are used again.
 */
#include "dump_blocks.h"

#include <stdlib.h>
#include <string.h>

bool dump_blocks_init(struct dump_blocks *blocks)
{
    memset(blocks, 0, sizeof(*blocks));
    return live_set_init(&blocks->index);
}

void dump_blocks_release(struct dump_blocks *blocks)
{
    free(blocks->rows);
    free(blocks->free_rows);
    live_set_release(&blocks->index);
}

static bool blocks_grow(struct dump_blocks *blocks)
{
    size_t capacity = blocks->capacity ? blocks->capacity * 2 : 256;
    struct dump_block *rows = realloc(blocks->rows, capacity * sizeof(*rows));
    uint32_t *free_rows;

    if (!rows)
        return false;
    blocks->rows = rows;
    free_rows = realloc(blocks->free_rows, capacity * sizeof(*free_rows));
    if (!free_rows)
        return false;
    blocks->free_rows = free_rows;
    blocks->capacity = capacity;
    return true;
}

struct dump_block *dump_blocks_add(struct dump_blocks *blocks, const struct dump_block *block)
{
    struct live_block entry = {.address = block->source_id, .size_bytes = 1, .group = 1};

    if (!blocks->free_count && blocks->count == blocks->capacity && !blocks_grow(blocks))
        return NULL;
    entry.birth =
        blocks->free_count ? blocks->free_rows[--blocks->free_count] : (uint32_t)blocks->count++;
    if (!live_set_put(&blocks->index, live_hash(block->source_id), &entry))
        return NULL;
    blocks->rows[entry.birth] = *block;
    blocks->rows[entry.birth].is_alive = true;
    return &blocks->rows[entry.birth];
}

struct dump_block *dump_blocks_find(struct dump_blocks *blocks, uint64_t source_id)
{
    struct live_place place = live_set_find(&blocks->index, live_hash(source_id), source_id);

    return place.bucket ? &blocks->rows[place.bucket->birth[place.slot]] : NULL;
}

void dump_blocks_remove(struct dump_blocks *blocks, struct dump_block *block)
{
    struct live_place place =
        live_set_find(&blocks->index, live_hash(block->source_id), block->source_id);

    if (place.bucket)
        live_set_take(&blocks->index, live_hash(block->source_id), place);
    block->is_alive = false;
    blocks->free_rows[blocks->free_count++] = (uint32_t)(block - blocks->rows);
}

static bool comes_before(const struct dump_block *a, const struct dump_block *b,
                         enum dump_order order)
{
    if (order == DUMP_BY_SIZE && a->size_bytes != b->size_bytes)
        return a->size_bytes > b->size_bytes;
    return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a->id > b->id;
}

size_t dump_blocks_top(const struct dump_blocks *blocks, enum dump_order order,
                       const struct dump_block **top, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < blocks->count; i++) {
        const struct dump_block *block = &blocks->rows[i];
        size_t at = count;

        if (!block->is_alive)
            continue;
        while (at && comes_before(block, top[at - 1], order))
            at--;
        if (at == most)
            continue;
        memmove(&top[at + 1], &top[at], ((count < most ? count : most - 1) - at) * sizeof(top[0]));
        top[at] = block;
        count += count < most;
    }
    return count;
}
