/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: src/{span,pagemap,common,thread_cache}.h of gperftools 2.10, 64 bits, 48 bits of
 * addresses, pages of 8 KiB. A table of sizes and a cache of a thread prove themselves by having
 * all sizes of blocks in their order.
 */
#include "tcmalloc_heap.h"

#include <string.h>

enum {
    PAGE_SHIFT = 13,
    LEAF_SHIFT = 31,
    LEAF_ALIGN = 8,
    SPAN_PAGES_SHIFT = 35, /* fewer than that */

    /* struct Span, its bits */
    COUNT_MASK = 0xffff,
    CLASS_SHIFT = 16,
    CLASS_MASK = 255,
    STATE_SHIFT = 24,
    STATE_MASK = 3,

    /* SizeMap::class_to_size_ */
    CLASS_BYTES_FIRST = 8,
    CLASS_BYTES_SECOND = 16,
    CLASS_BYTES_LAST_LEAST = 1 << 15,
    CLASSES_LEAST = 32,

    /* CentralFreeListPadded: from size_class_ on */
    LIST_OF_CLASS_BYTES = 1216,
    LIST_SLOTS_AT = 1144,
    SLOTS_MOST = 64,

    /* ThreadCache */
    LIST_BYTES = 32,
    LIST_COUNT_AT = 8,
    LIST_SIZE_AT = 24,
    CACHE_NEXT_AT = TCMALLOC_CLASSES_MOST * LIST_BYTES + 48,
    CACHES_MOST = 4096
};

enum span_state { STATE_IN_USE, STATE_FREE, STATE_RETURNED, STATES };

/* struct Span */
struct span {
    uint64_t page, page_count, next, previous, objects;
    uint32_t bits;
};

/* --- spans ----------------------------------------------------------------------------------- */

static uint32_t state_of(const struct span *span)
{
    return span->bits >> STATE_SHIFT & STATE_MASK;
}

static bool span_read(struct process_memory *memory, uint64_t word, uint64_t address,
                      struct span *span)
{
    const void *bytes = memory_at(memory, word, sizeof(*span));
    uint64_t page = address >> PAGE_SHIFT;

    if (!bytes)
        return false;
    memcpy(span, bytes, sizeof(*span));
    return span->page_count && !(span->page_count >> SPAN_PAGES_SHIFT) && span->page <= page &&
           page - span->page < span->page_count && state_of(span) < STATES;
}

static bool is_proved(struct process_memory *memory, uint64_t word, uint64_t address)
{
    struct span span;

    return span_read(memory, word, address, &span) && span.page == address >> PAGE_SHIFT;
}

static const struct page_tree_shape shape = {PAGE_SHIFT, LEAF_SHIFT, LEAF_ALIGN, is_proved};

/* --- sizes ----------------------------------------------------------------------------------- */

static bool int_at(struct process_memory *memory, uint64_t address, uint32_t *number)
{
    const void *at = memory_at(memory, address, sizeof(*number));

    if (at)
        memcpy(number, at, sizeof(*number));
    return at != NULL;
}

/* Rising from there on, up to a zero. */
static bool sizes_read(struct tcmalloc *tcmalloc, struct process_memory *memory, uint64_t at)
{
    uint32_t *sizes = tcmalloc->class_bytes, count = 0;

    while (count < TCMALLOC_CLASSES_MOST &&
           int_at(memory, at + count * sizeof(*sizes), &sizes[count]) &&
           (count < 2 || sizes[count] > sizes[count - 1]))
        count++;
    tcmalloc->class_count = count;
    return count >= CLASSES_LEAST && !sizes[0] && sizes[1] == CLASS_BYTES_FIRST &&
           sizes[2] == CLASS_BYTES_SECOND && sizes[count - 1] >= CLASS_BYTES_LAST_LEAST;
}

/* Where they are; 0: nowhere. */
static uint64_t find_sizes(struct tcmalloc *tcmalloc, struct process_memory *memory, uint64_t start,
                           uint64_t end)
{
    for (uint64_t at = memory_next_resident(memory, start, end); at < end;
         at = memory_next_resident(memory, at + sizeof(uint32_t), end)) {
        uint32_t second;

        if (int_at(memory, at + 2 * sizeof(second), &second) && second == CLASS_BYTES_SECOND &&
            sizes_read(tcmalloc, memory, at))
            return at;
    }
    return 0;
}

/* --- lists of all threads ----------------------------------------------------------------------
 */

/* They stand one after the other, each with its number. */
static bool are_lists(const struct tcmalloc *tcmalloc, struct process_memory *memory, uint64_t at)
{
    for (uint64_t i = 1; i < tcmalloc->class_count; i++) {
        uint64_t number;

        if (!memory_word(memory, at + (i - 1) * LIST_OF_CLASS_BYTES, &number) || number != i)
            return false;
    }
    return true;
}

/* Slots have as many free blocks each as threads take and give at once, which a table before that
 * of the sizes says. */
static uint64_t lists_bytes(const struct tcmalloc *tcmalloc, struct process_memory *memory,
                            uint64_t at, uint64_t sizes)
{
    uint64_t counts = sizes - TCMALLOC_CLASSES_MOST * sizeof(uint32_t), sum = 0;

    for (uint64_t i = 1; i < tcmalloc->class_count; i++) {
        uint64_t list = at + (i - 1) * LIST_OF_CLASS_BYTES;
        uint32_t slots, blocks;

        if (int_at(memory, list + LIST_SLOTS_AT, &slots) && slots <= SLOTS_MOST &&
            int_at(memory, counts + i * sizeof(blocks), &blocks) && blocks <= COUNT_MASK)
            sum += (uint64_t)slots * blocks * tcmalloc->class_bytes[i];
    }
    return sum;
}

static uint64_t find_lists(const struct tcmalloc *tcmalloc, struct process_memory *memory,
                           uint64_t sizes, uint64_t start, uint64_t end)
{
    for (uint64_t at = memory_next_resident(memory, start, end); at < end;
         at = memory_next_resident(memory, at + sizeof(at), end)) {
        uint64_t number;

        if (memory_word(memory, at, &number) && number == 1 && are_lists(tcmalloc, memory, at))
            return lists_bytes(tcmalloc, memory, at, sizes);
    }
    return 0;
}

/* --- caches of threads ------------------------------------------------------------------------ */

/* Free bytes in the cache; UINT64_MAX: this is none. */
static uint64_t cache_bytes(const struct tcmalloc *tcmalloc, struct process_memory *memory,
                            uint64_t cache)
{
    uint64_t sum = 0;

    for (uint32_t i = 1; i < tcmalloc->class_count; i++) {
        uint64_t list = cache + (uint64_t)i * LIST_BYTES;
        uint32_t size, count;

        if (!int_at(memory, list + LIST_SIZE_AT, &size) || size != tcmalloc->class_bytes[i] ||
            !int_at(memory, list + LIST_COUNT_AT, &count))
            return UINT64_MAX;
        sum += (uint64_t)count * size;
    }
    return sum;
}

/* Of this one and those after it. */
static uint64_t caches_bytes(const struct tcmalloc *tcmalloc, struct process_memory *memory,
                             uint64_t cache)
{
    uint64_t sum = 0;

    for (int i = 0; i < CACHES_MOST && cache; i++) {
        uint64_t bytes = cache_bytes(tcmalloc, memory, cache);

        if (bytes == UINT64_MAX)
            break;
        sum += bytes;
        if (!memory_word(memory, cache + CACHE_NEXT_AT, &cache))
            break;
    }
    return sum;
}

/* Of the variables, that with the longest list leads to the first of them. */
static uint64_t find_caches(const struct tcmalloc *tcmalloc, struct process_memory *memory,
                            const struct mappings *mappings, uint64_t start, uint64_t end)
{
    uint64_t most = 0;

    for (uint64_t at = memory_next_resident(memory, start, end); at < end;
         at = memory_next_resident(memory, at + sizeof(at), end)) {
        uint64_t cache, bytes;

        if (!memory_word(memory, at, &cache) || !cache || cache % sizeof(cache) ||
            !mappings_find(mappings, cache))
            continue;
        bytes = caches_bytes(tcmalloc, memory, cache);
        most = bytes > most ? bytes : most;
    }
    return most;
}

bool tcmalloc_find(struct tcmalloc *tcmalloc, struct process_memory *memory,
                   const struct mappings *mappings, uint64_t start, uint64_t end)
{
    uint64_t sizes;

    if (!page_tree_find(&tcmalloc->spans, &shape, memory, mappings, start, end))
        return false;
    sizes = find_sizes(tcmalloc, memory, start, end);
    if (!sizes)
        return false;
    tcmalloc->cached_bytes = find_lists(tcmalloc, memory, sizes, start, end) +
                             find_caches(tcmalloc, memory, mappings, start, end);
    return true;
}

/* --- what a span is --------------------------------------------------------------------------- */

static bool blocks_take(const struct tcmalloc *tcmalloc, const struct span *span,
                        struct heap_extent *taken)
{
    uint32_t size_class = span->bits >> CLASS_SHIFT & CLASS_MASK, count = span->bits & COUNT_MASK;
    uint64_t all_bytes = span->page_count << PAGE_SHIFT;

    if (!size_class) {
        taken->block_count = 1;
        return true;
    }
    if (size_class >= tcmalloc->class_count ||
        count > all_bytes / tcmalloc->class_bytes[size_class])
        return false;
    taken->block_count = count;
    taken->free_bytes = all_bytes - (uint64_t)count * tcmalloc->class_bytes[size_class];
    return true;
}

struct heap_extent tcmalloc_extent_at(struct tcmalloc *tcmalloc, uint64_t address, uint64_t end)
{
    struct heap_extent taken = {0};
    uint64_t word = page_tree_word(&tcmalloc->spans, address), span_end;
    struct span span;

    if (!word || !span_read(tcmalloc->spans.memory, word, address, &span))
        return taken;
    span_end = (span.page + span.page_count) << PAGE_SHIFT;
    if (state_of(&span) != STATE_IN_USE)
        taken.free_bytes = span.page_count << PAGE_SHIFT, taken.is_spare = true;
    else if (!blocks_take(tcmalloc, &span, &taken))
        return taken;
    taken.size_bytes = (span_end < end ? span_end : end) - address;
    if (taken.free_bytes > taken.size_bytes)
        taken.free_bytes = taken.size_bytes;
    return taken;
}
