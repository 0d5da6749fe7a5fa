/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks of 4096 numbers. One in which everything is used has no memory of its own.
 */
#include "snapshot_memo.h"

#include <stdlib.h>

#include "list.h"

enum { CHUNK_SLOTS = 4096, kind_shift = 28 };

struct memo_chunk {
    uint32_t slots[CHUNK_SLOTS]; /* kind, then index */
    uint32_t used_count;
};

static struct memo_chunk all_used; /* its address counts */

void snapshot_memo_release(struct snapshot_memo *memo)
{
    for (size_t i = 0; i < memo->chunk_count; i++)
        if (memo->chunks[i] != &all_used)
            free(memo->chunks[i]);
    free(memo->chunks);
    *memo = (struct snapshot_memo){0};
}

/* The chunk of a number, to be written to; NULL when there is no memory. */
static struct memo_chunk *chunk_for(struct snapshot_memo *memo, size_t number)
{
    struct memo_chunk **chunk;

    if (!list_reach(&memo->chunks, &memo->chunk_count, number / CHUNK_SLOTS, sizeof(*memo->chunks)))
        return NULL;
    chunk = &memo->chunks[number / CHUNK_SLOTS];
    if (*chunk == &all_used) {
        *chunk = malloc(sizeof(**chunk));
        if (!*chunk)
            return NULL;
        for (size_t i = 0; i < CHUNK_SLOTS; i++)
            (*chunk)->slots[i] = (uint32_t)MEMO_USED << kind_shift;
        (*chunk)->used_count = CHUNK_SLOTS;
    }
    if (!*chunk)
        *chunk = calloc(1, sizeof(**chunk));
    return *chunk;
}

static void set(struct memo_chunk *chunk, size_t number, struct memo_slot slot)
{
    uint32_t *packed = &chunk->slots[number % CHUNK_SLOTS];

    chunk->used_count -= *packed >> kind_shift == MEMO_USED;
    chunk->used_count += slot.kind == MEMO_USED;
    *packed = slot.kind << kind_shift | slot.index;
}

bool snapshot_memo_put(struct snapshot_memo *memo, size_t number, struct memo_slot slot)
{
    struct memo_chunk *chunk = chunk_for(memo, number);

    if (!chunk)
        return false;
    set(chunk, number, slot);
    if (number >= memo->count)
        memo->count = number + 1;
    return true;
}

struct memo_slot snapshot_memo_at(const struct snapshot_memo *memo, size_t number)
{
    const struct memo_chunk *chunk = memo->chunks[number / CHUNK_SLOTS];
    uint32_t packed;

    if (!chunk || chunk == &all_used)
        return (struct memo_slot){chunk ? MEMO_USED : MEMO_OTHER, 0};
    packed = chunk->slots[number % CHUNK_SLOTS];
    return (struct memo_slot){packed >> kind_shift, packed & MEMO_INDEX_MAX};
}

void snapshot_memo_settle(struct snapshot_memo *memo, size_t number, uint32_t object,
                          struct memo_slot slot)
{
    struct memo_slot now = snapshot_memo_at(memo, number);
    struct memo_chunk **chunk = &memo->chunks[number / CHUNK_SLOTS];

    if (now.kind != MEMO_OBJECT || now.index != object)
        return;
    set(*chunk, number, slot);
    if ((*chunk)->used_count < CHUNK_SLOTS)
        return;
    free(*chunk);
    *chunk = &all_used;
}
