/* SPDX-License-Identifier: Apache-2.0 */
#include "pinned_pages.h"

#include <stdlib.h>

#include "leaktide/invariant.h"
#include "list.h"
#include "live_set.h"

/* Of glibc, whose pages are the smallest: before each block stands its size. */
enum { PAGE_SHIFT = 12, PAGE_BYTES = 1 << PAGE_SHIFT, HEAD_BYTES = 8, ALIGN_BYTES = 16 };
/* Blocks so large have mappings of their own, which nothing else would use. */
enum { MAPPED_AT = 16, MAPPED_BYTES_LEAST = 1 << 17 };

struct span {
    uint64_t start, end;
    uint32_t group;
};

struct spans {
    const struct tally *tally;
    struct span *rows;
    size_t count, capacity;
    bool has_failed;
};

struct pinned {
    uint64_t bytes, block_count;
};

static bool is_of_malloc(const struct tally *tally, const struct live_block *block)
{
    uint16_t pool = tally_detail_at(tally, block->group)->pool;

    return model_pool_at(tally_model(tally), pool)->id == POOL_HOST &&
           (block->address % PAGE_BYTES != MAPPED_AT || block->size_bytes < MAPPED_BYTES_LEAST) &&
           block->address > HEAD_BYTES && block->address + block->size_bytes > block->address;
}

static void take_block(void *context, const struct live_block *block)
{
    struct spans *spans = context;
    uint64_t start = block->address - HEAD_BYTES;
    uint64_t bytes = (block->size_bytes + HEAD_BYTES + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;

    if (spans->has_failed || !is_of_malloc(spans->tally, block))
        return;
    if (!list_has_room(&spans->rows, &spans->capacity, spans->count, sizeof(*spans->rows))) {
        spans->has_failed = true;
        return;
    }
    spans->rows[spans->count++] = (struct span){
        start, start + (bytes < 2 * ALIGN_BYTES ? 2 * ALIGN_BYTES : bytes), block->group};
}

static int span_compare(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    return (a->start > b->start) - (a->start < b->start);
}

/* Of the page at `page`: of the blocks [first, last) are on it. */
static void take_page(const struct span *rows, size_t first, size_t last, uint64_t page,
                      struct pinned *groups)
{
    uint64_t used_bytes = 0, rest_bytes;

    MT_ASSERT(first < last);
    for (size_t i = first; i < last; i++) {
        uint64_t start = rows[i].start > page ? rows[i].start : page;
        uint64_t end = rows[i].end < page + PAGE_BYTES ? rows[i].end : page + PAGE_BYTES;

        used_bytes += end > start ? end - start : 0;
    }
    rest_bytes = used_bytes < PAGE_BYTES ? PAGE_BYTES - used_bytes : 0;
    for (size_t i = first; i < last; i++)
        groups[rows[i].group].bytes += rest_bytes / (last - first);
}

/* Blocks stand one after the other, so those of a page are neighbours; what is in the middle of a
 * large block is full. */
static void take_pages(const struct spans *spans, struct pinned *groups)
{
    const struct span *rows = spans->rows;
    uint64_t done = 0; /* pages before that are counted */

    for (size_t first = 0; first < spans->count; first++) {
        uint64_t pages[] = {rows[first].start / PAGE_BYTES * PAGE_BYTES,
                            (rows[first].end - 1) / PAGE_BYTES * PAGE_BYTES};

        groups[rows[first].group].block_count++;
        for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
            size_t last = first + 1;

            if (pages[i] < done)
                continue;
            done = pages[i] + PAGE_BYTES;
            while (last < spans->count && rows[last].start < done)
                last++;
            take_page(rows, first, last, pages[i], groups);
        }
    }
}

static struct memory_pins most_of(const struct pinned *groups, size_t count)
{
    struct memory_pins pins = {0};

    for (size_t i = 1; i < count; i++) {
        pins.all_bytes += groups[i].bytes;
        if (groups[i].bytes <= pins.bytes)
            continue;
        pins.bytes = groups[i].bytes;
        pins.block_count = groups[i].block_count;
        pins.group = (uint32_t)i;
    }
    return pins;
}

bool pinned_pages_find(const struct tally *tally, struct memory_pins *pins)
{
    struct spans spans = {.tally = tally};
    struct pinned *groups = calloc(tally_group_count(tally) + 1, sizeof(*groups));

    if (groups)
        tally_each_live(tally, take_block, &spans);
    if (!groups || spans.has_failed) {
        free(groups);
        free(spans.rows);
        return false;
    }
    if (spans.count)
        qsort(spans.rows, spans.count, sizeof(*spans.rows), span_compare);
    take_pages(&spans, groups);
    *pins = most_of(groups, tally_group_count(tally));
    free(groups);
    free(spans.rows);
    return true;
}
