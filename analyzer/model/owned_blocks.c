/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs name the same blocks in each step: a name that a block has is not added again.
 */
#include "owned_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "leaktide/invariant.h"
#include "list.h"

enum { OWNER_BYTES = 1024 };

void owned_blocks_release(struct owned_blocks *blocks)
{
    free(blocks->rows);
    hash_index_release(&blocks->index);
    *blocks = (struct owned_blocks){0};
}

/* NULL without memory. */
static struct owned_block *row_of(struct owned_blocks *blocks, uint64_t alloc)
{
    uint64_t hash = hash_u64(alloc);
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&blocks->index, hash, &probe, &found))
        if (blocks->rows[found].alloc == alloc)
            return &blocks->rows[found];
    if (!list_has_room(&blocks->rows, &blocks->capacity, blocks->count, sizeof(*blocks->rows)) ||
        !hash_index_add(&blocks->index, hash, (uint32_t)blocks->count))
        return NULL;
    blocks->rows[blocks->count] = (struct owned_block){.alloc = alloc};
    return &blocks->rows[blocks->count++];
}

static void name_add(struct owned_block *row, uint32_t name)
{
    for (uint32_t i = 0; i < row->name_count; i++)
        if (row->names[i] == name)
            return;
    if (name && row->name_count < OWNED_NAMES_MAX)
        row->names[row->name_count++] = name;
}

void owned_blocks_name(struct owned_blocks *blocks, uint64_t alloc, uint32_t first, uint32_t owner)
{
    struct owned_block *row = row_of(blocks, alloc);

    if (!row) {
        blocks->has_failed = true;
        return;
    }
    if (!row->name_count)
        name_add(row, first);
    name_add(row, owner);
}

void owned_blocks_place(struct owned_blocks *blocks, uint64_t alloc, uint32_t nn_module)
{
    struct owned_block *row = row_of(blocks, alloc);

    if (!row)
        blocks->has_failed = true;
    else if (!row->nn_module)
        row->nn_module = nn_module;
}

static void names_join(struct model *model, struct owned_block *row)
{
    char joined[OWNER_BYTES];
    size_t length = 0;

    for (uint32_t i = 0; i < row->name_count; i++) {
        const char *name = model_text_at(model, row->names[i]);
        int added = snprintf(joined + length, sizeof(joined) - length, "%s%s", i ? "@" : "", name);

        if (added < 0 || length + (size_t)added >= sizeof(joined))
            break;
        length += (size_t)added;
    }
    row->owner = model_text(model, joined, length);
}

static int by_alloc(const void *a, const void *b)
{
    const struct owned_block *left = a, *right = b;

    return (left->alloc > right->alloc) - (left->alloc < right->alloc);
}

void owned_blocks_settle(struct owned_blocks *blocks, struct model *model)
{
    for (size_t i = 0; i < blocks->count; i++)
        if (blocks->rows[i].name_count)
            names_join(model, &blocks->rows[i]);
    if (blocks->count)
        qsort(blocks->rows, blocks->count, sizeof(*blocks->rows), by_alloc);
    hash_index_release(&blocks->index);
    if (MT_ASSERTS)
        owned_blocks_check(blocks);
}

void owned_blocks_check(const struct owned_blocks *blocks)
{
    MT_ASSERT(blocks->count <= blocks->capacity);
    for (size_t i = 0; i < blocks->count; i++) {
        MT_ASSERT(!i || blocks->rows[i - 1].alloc < blocks->rows[i].alloc);
        MT_ASSERT((blocks->rows[i].name_count || blocks->rows[i].nn_module) &&
                  blocks->rows[i].name_count <= OWNED_NAMES_MAX);
    }
}
