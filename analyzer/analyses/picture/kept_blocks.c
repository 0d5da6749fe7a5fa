/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks that matter, one by one, and the rest of them as sums.
 *
 * Twice as many as are wanted are collected; then the greater half of them stays. So a block costs
 * a few comparisons, however many are wanted.
 */
#include "kept_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "list.h"

enum { first_stretches = 4096 };

static uint64_t age_ns(const struct life *life)
{
    return life->freed_ns - life->born_ns; /* never freed: longest */
}

/* Does a go before b when one has to? */
static bool is_lesser(const void *row, const void *other)
{
    const struct life *a = row, *b = other;

    if (a->size_bytes != b->size_bytes)
        return a->size_bytes < b->size_bytes;
    if (age_ns(a) != age_ns(b))
        return age_ns(a) < age_ns(b);
    return a->index > b->index;
}

static uint64_t row_hash(uint32_t stretch, uint32_t group, uint32_t size_class)
{
    return hash_pair((uint64_t)group << 32 | stretch, size_class);
}

static struct rest_row *row_find(struct kept_blocks *kept, uint64_t hash, uint32_t stretch,
                                 uint32_t group, uint32_t size_class)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&kept->rest_index, hash, &probe, &found)) {
        struct rest_row *row = &kept->rest[found];

        if (row->stretch == stretch && row->group == group && row->size_class == size_class)
            return row;
    }
    return NULL;
}

static struct rest_row *row_for(struct kept_blocks *kept, uint32_t stretch, uint32_t group,
                                uint32_t size_class)
{
    uint64_t hash = row_hash(stretch, group, size_class);
    struct rest_row *row = row_find(kept, hash, stretch, group, size_class);

    if (row)
        return row;
    if (!list_has_room(&kept->rest, &kept->rest_capacity, kept->rest_count, sizeof(*kept->rest)))
        return NULL;
    if (!hash_index_add(&kept->rest_index, hash, (uint32_t)kept->rest_count))
        return NULL;
    row = &kept->rest[kept->rest_count++];
    *row = (struct rest_row){.stretch = stretch, .group = group, .size_class = size_class};
    return row;
}

static void row_add(struct rest_row *into, const struct rest_row *row)
{
    into->born_bytes += row->born_bytes;
    into->born_count += row->born_count;
    into->freed_bytes += row->freed_bytes;
    into->freed_count += row->freed_count;
}

/* Two stretches become one. Rows only move down, so none is read after it was written over. */
static bool halve(struct kept_blocks *kept)
{
    size_t count = kept->rest_count;

    hash_index_release(&kept->rest_index);
    hash_index_init(&kept->rest_index);
    kept->rest_count = 0;
    kept->stretch_ns *= 2;
    for (size_t i = 0; i < count; i++) {
        struct rest_row row = kept->rest[i];
        struct rest_row *into = row_for(kept, row.stretch / 2, row.group, row.size_class);

        if (!into)
            return false;
        row_add(into, &row);
    }
    return true;
}

static uint32_t stretch_at(const struct kept_blocks *kept, uint64_t time_ns)
{
    if (time_ns < kept->limits.start_ns)
        return 0;
    if (time_ns > kept->limits.end_ns)
        time_ns = kept->limits.end_ns;
    return (uint32_t)((time_ns - kept->limits.start_ns) / kept->stretch_ns);
}

/* One block comes to the sums. */
static bool rest_add(struct kept_blocks *kept, const struct life *life)
{
    const struct rest_row born = {.born_bytes = life->size_bytes, .born_count = 1};
    const struct rest_row freed = {.freed_bytes = life->size_bytes, .freed_count = 1};
    uint32_t size_class = life->size_bytes ? 63 - (uint32_t)__builtin_clzll(life->size_bytes) : 0;
    uint32_t stretch = stretch_at(kept, life->born_ns), end;
    struct rest_row *row = row_for(kept, stretch, life->group, size_class);

    if (!row)
        return false;
    row_add(row, &born);
    if (life->freed_ns == UINT64_MAX)
        return true;
    end = stretch_at(kept, life->freed_ns);
    if (end != stretch)
        row = row_for(kept, end, life->group, size_class);
    if (row)
        row_add(row, &freed);
    return row != NULL;
}

static bool rest_put(struct kept_blocks *kept, const struct life *life)
{
    if (!rest_add(kept, life))
        return false;
    kept->rest_bytes += life->size_bytes;
    kept->rest_block_count++;
    if (life->size_bytes > kept->rest_size_most)
        kept->rest_size_most = life->size_bytes;
    while (kept->rest_count > kept->limits.rest_most &&
           kept->stretch_ns < kept->limits.end_ns - kept->limits.start_ns)
        if (!halve(kept))
            return false;
    return true;
}

bool kept_init(struct kept_blocks *kept, const struct kept_limits *limits)
{
    *kept = (struct kept_blocks){.limits = *limits};
    kept->stretch_ns = (limits->end_ns - limits->start_ns) / first_stretches + 1;
    hash_index_init(&kept->rest_index);
    kept->blocks = malloc(2 * limits->block_most * sizeof(*kept->blocks));
    return kept->blocks != NULL;
}

/* Rows that are greater than one of them go before it, the others behind; returns where it is. */
static size_t rows_part(struct life *rows, size_t low, size_t high, size_t chosen)
{
    const struct life middle = rows[chosen];
    size_t left = low, right = high - 1;

    rows[chosen] = rows[low]; /* one place is free, at `left` or at `right` in turn */
    while (left < right) {
        while (left < right && is_lesser(&rows[right], &middle))
            right--;
        if (left < right)
            rows[left++] = rows[right];
        while (left < right && is_lesser(&middle, &rows[left]))
            left++;
        if (left < right)
            rows[right--] = rows[left];
    }
    rows[left] = middle;
    return left;
}

/* The greatest come first. Chosen by a hash, so that no order of blocks is a bad one. */
static void rows_select(struct life *rows, size_t count, size_t most)
{
    size_t low = 0, high = count;

    while (low < most && most < high) {
        size_t chosen = low + hash_u64(low ^ high) % (high - low);
        size_t at = rows_part(rows, low, high, chosen);

        if (at < most)
            low = at + 1;
        else
            high = at;
    }
}

/* Leaves as many as are wanted. */
static bool drop_lesser(struct kept_blocks *kept)
{
    size_t most = kept->limits.block_most, count = kept->count;

    rows_select(kept->blocks, count, most);
    kept->count = most;
    for (size_t i = most; i < count; i++)
        if (!rest_put(kept, &kept->blocks[i]))
            return false;
    kept->has_least = true;
    kept->least = kept->blocks[0];
    for (size_t i = 1; i < most; i++)
        if (is_lesser(&kept->blocks[i], &kept->least))
            kept->least = kept->blocks[i];
    return true;
}

bool kept_put(struct kept_blocks *kept, const struct life *life)
{
    if (kept->has_least && is_lesser(life, &kept->least))
        return rest_put(kept, life);
    kept->blocks[kept->count++] = *life;
    return kept->count < 2 * kept->limits.block_most || drop_lesser(kept);
}

static int by_birth(const void *left, const void *right)
{
    const struct life *a = left, *b = right;

    if (a->born_ns != b->born_ns)
        return a->born_ns < b->born_ns ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static int by_stretch(const void *left, const void *right)
{
    const struct rest_row *a = left, *b = right;

    if (a->stretch != b->stretch)
        return a->stretch < b->stretch ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->size_class > b->size_class) - (a->size_class < b->size_class);
}

bool kept_finish(struct kept_blocks *kept)
{
    if (kept->count > kept->limits.block_most && !drop_lesser(kept))
        return false;
    if (kept->count)
        qsort(kept->blocks, kept->count, sizeof(*kept->blocks), by_birth);
    if (kept->rest_count)
        qsort(kept->rest, kept->rest_count, sizeof(*kept->rest), by_stretch);
    return true;
}

void kept_release(struct kept_blocks *kept)
{
    free(kept->blocks);
    free(kept->rest);
    hash_index_release(&kept->rest_index);
    *kept = (struct kept_blocks){0};
}
