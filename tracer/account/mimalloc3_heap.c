/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: include/mimalloc/types.h of mimalloc 3.0.3, 3.1.6, 3.2.8, 3.3.2 and 3.4.3, 64 bits,
 * lists that are not encoded.
 */
#include "mimalloc3_heap.h"

#include <string.h>

enum {
    SLICE_SHIFT = 16,
    SLICE_BYTES = 1 << SLICE_SHIFT,
    SLICES_MOST = 1 << 24,
    ARENA_BYTES_LEAST = 1 << 25,
    TRIES_MOST = 64, /* for the first arena of a mapping */
    PROOF_SLICES_MOST = 4096,
    LOOKED_BACK_MOST = 512,
    BLOCK_BYTES_SHIFT_MOST = 44,

    /* mi_memkind_t */
    MEMORY_EXTERNAL = 1,
    MEMORY_OS = 4,
    MEMORY_OS_LAST = 6,
    MEMORY_ARENA = 7,

    ARENA_OWNER_AT = 24,

    PAGE_BYTES_MOST = 120
};

/* Where things are in struct mi_arena_s and struct mi_page_s. */
struct mimalloc3_layout {
    unsigned slice_count_at;             /* and how many of these the arena itself has after it */
    unsigned pages_at;                   /* 0: descriptions stand in their pages */
    unsigned page_bytes, page_memory_at; /* of a description */
    bool is_offset; /* it says how many words after it its blocks begin, not where */
};

static const struct mimalloc3_layout layouts[] = {
    {32, 0, 120, 96, false},  /* 3.0 and 3.1 */
    {40, 136, 112, 88, true}, /* 3.4 */
    {40, 0, 120, 96, false},  /* 3.2 and 3.3 */
};

/* struct mi_page_s, its begin */
struct page_head {
    uint64_t thread, free;
    uint16_t used, capacity, reserved, bits;
    uint64_t local_free, thread_free, block_bytes, start;
};

/* mi_memid_t */
struct memory_id {
    uint64_t base; /* an arena, or what the kernel gave */
    union {
        uint64_t size_bytes;
        uint32_t slices[2]; /* the first, and how many */
    };
    uint32_t kind, bits;
};

struct page {
    uint64_t size_bytes; /* whole slices */
    uint64_t used_bytes;
    uint32_t block_count;
};

static bool copy(struct process_memory *memory, uint64_t at, void *into, size_t size_bytes)
{
    const void *bytes = memory_at(memory, at, size_bytes);

    if (bytes)
        memcpy(into, bytes, size_bytes);
    return bytes != NULL;
}

/* --- pages ----------------------------------------------------------------------------------- */

/* Of a page at an address, as it is described: which memory does it say it is? */
static bool description_read(struct mimalloc3 *mimalloc, uint64_t at, struct page_head *head,
                             struct memory_id *id)
{
    const struct mimalloc3_layout *layout = mimalloc->layout;
    unsigned char bytes[PAGE_BYTES_MOST];

    if (!copy(mimalloc->memory, at, bytes, layout->page_bytes))
        return false;
    memcpy(head, bytes, sizeof(*head));
    memcpy(id, bytes + layout->page_memory_at, sizeof(*id));
    if (layout->is_offset)
        head->start = at + (head->start & UINT32_MAX) * sizeof(uint64_t);
    return true;
}

/* Its blocks are in it. */
static bool blocks_fit(const struct page_head *head, uint64_t address, struct page *page)
{
    if (!head->block_bytes || head->block_bytes >> BLOCK_BYTES_SHIFT_MOST ||
        head->used > head->capacity || head->capacity > head->reserved || !head->reserved ||
        head->start < address || head->start - address > page->size_bytes ||
        head->reserved * head->block_bytes > page->size_bytes - (head->start - address))
        return false;
    page->used_bytes = head->used * head->block_bytes;
    page->block_count = head->used;
    return true;
}

/* The one that begins with this slice; false: none does. */
static bool page_read(struct mimalloc3 *mimalloc, const struct mimalloc3_arena *arena,
                      uint64_t slice, struct page *page)
{
    uint64_t address = arena->start + (slice << SLICE_SHIFT);
    uint64_t at = arena->pages ? arena->pages + slice * mimalloc->layout->page_bytes : address;
    struct page_head head;
    struct memory_id id;

    if (!description_read(mimalloc, at, &head, &id) || id.kind != MEMORY_ARENA ||
        id.base != arena->start || id.slices[0] != slice || !id.slices[1] ||
        id.slices[1] > arena->slice_count - slice)
        return false;
    *page = (struct page){.size_bytes = (uint64_t)id.slices[1] << SLICE_SHIFT};
    return blocks_fit(&head, address, page);
}

/* One that is in no arena, as its block is too large for that. */
static bool page_of_kernel_read(struct mimalloc3 *mimalloc, uint64_t address, uint64_t end,
                                struct page *page)
{
    struct page_head head;
    struct memory_id id;

    if (address % SLICE_BYTES || !description_read(mimalloc, address, &head, &id) ||
        id.kind < MEMORY_OS || id.kind > MEMORY_OS_LAST || id.base > address ||
        id.base + id.size_bytes > end || id.base + id.size_bytes <= address || head.reserved != 1)
        return false;
    *page = (struct page){.size_bytes = id.base + id.size_bytes - address};
    return blocks_fit(&head, address, page);
}

/* --- arenas ---------------------------------------------------------------------------------- */

static bool has_page(struct mimalloc3 *mimalloc, const struct mimalloc3_arena *arena)
{
    struct page page;

    for (uint64_t slice = arena->info_slices;
         slice < arena->slice_count && slice < PROOF_SLICES_MOST; slice++)
        if (page_read(mimalloc, arena, slice, &page))
            return true;
    return false;
}

static bool arena_fits(struct mimalloc3 *mimalloc, uint64_t address, struct mimalloc3_arena *arena)
{
    const struct mimalloc3_layout *layout = mimalloc->layout;
    uint64_t counts[2], pages_end;
    struct memory_id id;

    if (!copy(mimalloc->memory, address, &id, sizeof(id)) || id.kind < MEMORY_EXTERNAL ||
        id.kind > MEMORY_OS_LAST ||
        !memory_word(mimalloc->memory, address + ARENA_OWNER_AT, &mimalloc->owner) ||
        !copy(mimalloc->memory, address + layout->slice_count_at, counts, sizeof(counts)) ||
        !counts[1] || counts[1] >= counts[0] || counts[0] > SLICES_MOST)
        return false;
    *arena = (struct mimalloc3_arena){address, counts[0], counts[1], 0};
    pages_end = address + (counts[1] << SLICE_SHIFT);
    if (layout->pages_at &&
        (!memory_word(mimalloc->memory, address + layout->pages_at, &arena->pages) ||
         arena->pages <= address || arena->pages >= pages_end ||
         counts[0] * layout->page_bytes > pages_end - arena->pages))
        return false;
    return has_page(mimalloc, arena);
}

/* All that have the layout of the first one. */
static bool arena_read(struct mimalloc3 *mimalloc, uint64_t address, struct mimalloc3_arena *arena)
{
    if (mimalloc->arena_count)
        return arena_fits(mimalloc, address, arena);
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        mimalloc->layout = &layouts[i];
        if (arena_fits(mimalloc, address, arena))
            return true;
    }
    return false;
}

/* Arenas follow each other; before the first one there may be some that is not mimalloc's. */
static void find_arenas(struct mimalloc3 *mimalloc, const struct mapping *mapping)
{
    uint64_t at = (mapping->start + SLICE_BYTES - 1) / SLICE_BYTES * SLICE_BYTES;
    int tries = TRIES_MOST;

    while (tries-- && at >= mapping->start && at < mapping->end &&
           mimalloc->arena_count < MIMALLOC3_ARENAS_MOST) {
        struct mimalloc3_arena *arena = &mimalloc->arenas[mimalloc->arena_count];

        if (arena_read(mimalloc, at, arena)) {
            at += arena->slice_count << SLICE_SHIFT;
            mimalloc->arena_count++;
            tries = TRIES_MOST;
        } else {
            at += SLICE_BYTES;
        }
    }
}

bool mimalloc3_find(struct mimalloc3 *mimalloc, struct process_memory *memory,
                    const struct mappings *mappings)
{
    *mimalloc = (struct mimalloc3){.memory = memory};
    for (size_t i = 0; i < mappings->count; i++) {
        const struct mapping *mapping = &mappings->rows[i];

        if (mapping_is_plain(mapping) && mapping_is_writable(mapping) && mapping->resident_bytes &&
            mapping->end - mapping->start >= ARENA_BYTES_LEAST)
            find_arenas(mimalloc, mapping);
    }
    return mimalloc->arena_count > 0;
}

/* --- what is at an address ------------------------------------------------------------------- */

static const struct mimalloc3_arena *arena_of(const struct mimalloc3 *mimalloc, uint64_t address)
{
    for (size_t i = 0; i < mimalloc->arena_count; i++)
        if (address >= mimalloc->arenas[i].start &&
            (address - mimalloc->arenas[i].start) >> SLICE_SHIFT < mimalloc->arenas[i].slice_count)
            return &mimalloc->arenas[i];
    return NULL;
}

static struct heap_extent extent_of(const struct page *page, uint64_t page_start, uint64_t address,
                                    uint64_t end)
{
    uint64_t page_end = page_start + page->size_bytes;
    struct heap_extent taken = {
        .size_bytes = (page_end < end ? page_end : end) - address,
        .block_count = address == page_start ? page->block_count : 0,
        .is_spare = !page->used_bytes,
    };

    if (taken.size_bytes > page->used_bytes)
        taken.free_bytes = taken.size_bytes - page->used_bytes;
    return taken;
}

/* A slice that is of no page is free. */
static struct heap_extent extent_of_slice(struct mimalloc3 *mimalloc,
                                          const struct mimalloc3_arena *arena, uint64_t address,
                                          uint64_t end)
{
    uint64_t slice = (address - arena->start) >> SLICE_SHIFT, back = 0;
    struct page page = {.size_bytes = SLICE_BYTES};

    while (back < LOOKED_BACK_MOST && back <= slice - arena->info_slices) {
        struct page found;

        if (page_read(mimalloc, arena, slice - back, &found)) {
            if (found.size_bytes >> SLICE_SHIFT > back)
                return extent_of(&found, arena->start + ((slice - back) << SLICE_SHIFT), address,
                                 end);
            break;
        }
        back++;
    }
    return extent_of(&page, arena->start + (slice << SLICE_SHIFT), address, end);
}

struct heap_extent mimalloc3_extent_at(struct mimalloc3 *mimalloc, uint64_t address, uint64_t end)
{
    const struct mimalloc3_arena *arena = arena_of(mimalloc, address);
    struct page page;

    if (!arena)
        return page_of_kernel_read(mimalloc, address, end, &page)
                   ? extent_of(&page, address, address, end)
                   : (struct heap_extent){0};
    if ((address - arena->start) >> SLICE_SHIFT < arena->info_slices) {
        page = (struct page){.size_bytes = arena->info_slices << SLICE_SHIFT};
        return (struct heap_extent){
            .size_bytes = extent_of(&page, arena->start, address, end).size_bytes, .is_own = true};
    }
    return extent_of_slice(mimalloc, arena, address, end);
}
