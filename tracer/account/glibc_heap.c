/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap is a row of chunks:
 *
 *     address  size of the one before, if that is free
 *          +8  size | 1: the one before is in use | 2: a mapping of its own | 4: not main arena
 *         +16  the block, or, of a free chunk, where others of its list are
 *
 * Source: malloc/malloc.c and malloc/arena.c of glibc 2.31 to 2.41, 64 bits.
 */
#include "glibc_heap.h"

#include <string.h>

enum {
    PREVIOUS_IN_USE = 1,
    IS_MAPPED = 2,
    FLAGS = 7,
    CHUNK_LEAST = 32,
    CHUNK_ALIGN = 16,
    CHUNK_HEAD = 16,
    SIZE_FIELD = 8,
    FREE_HEAD = 48, /* of a large free chunk: malloc_trim keeps it */

    CACHE_CHUNK = 0x290, /* tcache_perthread_struct: 64 counts of 16 bits, 64 pointers */
    CACHE_BINS = 64,
    CACHE_COUNT_MOST = 0x7fff,

    FASTBINS = 10,
    FASTBINS_OFFSET = 16, /* struct malloc_state */
    TOP_OFFSET = 96,
    SYSTEM_OFFSET = 2184,
    SYSTEM_MOST_OFFSET = 2192,
    STATE_BYTES = 2200,
    FASTBIN_CHUNKS_MOST = 1 << 18,

    START_SEARCH_BYTES = 1 << 16,
    HEAP_INFO_BYTES = 0x20, /* struct heap_info before 2.35 */
    HEAP_INFO_NEW_BYTES = 0x30,
    HEAP_GROWN_MOST = 1 << 30,
    TRIES = 3
};

/* --- one chunk after the other --------------------------------------------------------------- */

struct walk {
    struct process_memory *memory;
    uint64_t end;
    bool is_main;
    struct heap_split split;
};

/* What the counts of a thread's cache say; 0 where this is no such cache. */
static uint64_t cache_bytes(struct process_memory *memory, uint64_t chunk)
{
    struct {
        uint16_t counts[CACHE_BINS];
        uint64_t entries[CACHE_BINS];
    } cache;
    const void *at = memory_at(memory, chunk + CHUNK_HEAD, sizeof(cache));
    uint64_t sum = 0;

    if (!at)
        return 0;
    memcpy(&cache, at, sizeof(cache));
    for (uint64_t i = 0; i < CACHE_BINS; i++) {
        if (cache.counts[i] > CACHE_COUNT_MOST ||
            (cache.counts[i] != 0) != (cache.entries[i] != 0) || cache.entries[i] % CHUNK_ALIGN)
            return 0;
        sum += cache.counts[i] * (CHUNK_LEAST + i * CHUNK_ALIGN);
    }
    return sum;
}

static void count_used(struct walk *walk, uint64_t chunk, uint64_t size_bytes)
{
    uint64_t cached = size_bytes == CACHE_CHUNK ? cache_bytes(walk->memory, chunk) : 0;

    walk->split.block_count++;
    walk->split.own_bytes += SIZE_FIELD;
    walk->split.cached_bytes += cached;
    if (cached)
        walk->split.own_bytes += CACHE_CHUNK - SIZE_FIELD;
}

static void count_free(struct walk *walk, uint64_t chunk, uint64_t size_bytes)
{
    uint64_t page = walk->memory->page_bytes;
    uint64_t first = (chunk + FREE_HEAD + page - 1) / page * page;
    uint64_t last = (chunk + size_bytes) / page * page;

    walk->split.free_bytes += memory_resident_bytes(walk->memory, chunk, chunk + size_bytes);
    if (first < last)
        walk->split.trim_bytes += memory_resident_bytes(walk->memory, first, last);
}

/* Of other arenas, malloc_trim leaves the top alone. */
static void count_top(struct walk *walk, uint64_t chunk)
{
    uint64_t trim_bytes = walk->split.trim_bytes;

    count_free(walk, chunk, walk->end - chunk);
    if (!walk->is_main)
        walk->split.trim_bytes = trim_bytes;
    walk->split.top = chunk;
}

/* A heap that is not the newest one of its arena ends with two small chunks, or one. */
static bool is_fence(const struct walk *walk, uint64_t chunk, uint64_t size_bytes)
{
    return !walk->is_main && size_bytes < CHUNK_LEAST &&
           walk->end - chunk <= CHUNK_LEAST + CHUNK_HEAD;
}

/* The heap has grown since its end was read: the last chunk of what is looked at goes on. */
static bool count_beyond(struct walk *walk, uint64_t chunk, uint64_t size_bytes)
{
    uint64_t next = chunk + size_bytes, next_word;

    if (!walk->is_main || size_bytes > HEAP_GROWN_MOST)
        return false;
    if (next % walk->memory->page_bytes == 0) {
        count_top(walk, chunk);
        return true;
    }
    if (!memory_word(walk->memory, next + SIZE_FIELD, &next_word) ||
        (next_word & ~(uint64_t)FLAGS) < CHUNK_LEAST || next_word & IS_MAPPED)
        return false;
    if (next_word & PREVIOUS_IN_USE)
        count_used(walk, chunk, size_bytes);
    else
        count_free(walk, chunk, walk->end - chunk);
    return true;
}

static bool chunk_step(struct walk *walk, uint64_t *chunk, bool *is_over)
{
    uint64_t word, next_word, size_bytes, next;

    if (!memory_word(walk->memory, *chunk + SIZE_FIELD, &word))
        return false;
    size_bytes = word & ~(uint64_t)FLAGS;
    if (is_fence(walk, *chunk, size_bytes)) {
        *is_over = true;
        return true;
    }
    if (size_bytes < CHUNK_LEAST || size_bytes % CHUNK_ALIGN || word & IS_MAPPED)
        return false;
    if (size_bytes > walk->end - *chunk) {
        *is_over = true;
        return count_beyond(walk, *chunk, size_bytes);
    }
    next = *chunk + size_bytes;
    if (walk->end - next < CHUNK_HEAD) { /* the top goes up to the end */
        count_top(walk, *chunk);
        *is_over = true;
        return next == walk->end;
    }
    if (!memory_word(walk->memory, next + SIZE_FIELD, &next_word))
        return false;
    if (next_word & PREVIOUS_IN_USE) {
        count_used(walk, *chunk, size_bytes);
    } else {
        uint64_t repeated;

        if (!memory_word(walk->memory, next, &repeated) || repeated != size_bytes)
            return false;
        count_free(walk, *chunk, size_bytes);
    }
    *chunk = next;
    return true;
}

static bool walk_chunks(struct walk *walk, uint64_t first)
{
    bool is_over = false;

    walk->split = (struct heap_split){0};
    for (uint64_t chunk = first; !is_over;)
        if (!chunk_step(walk, &chunk, &is_over))
            return false;
    return true;
}

static void split_add(struct heap_split *split, const struct heap_split *more)
{
    split->free_bytes += more->free_bytes;
    split->cached_bytes += more->cached_bytes;
    split->own_bytes += more->own_bytes;
    split->trim_bytes += more->trim_bytes;
    split->block_count += more->block_count;
    split->top = more->top;
}

/* The program runs on meanwhile: what was half changed may be whole the next time. */
static bool walk_tries(struct walk *walk, uint64_t first, struct heap_split *split)
{
    for (int i = 0; i < TRIES; i++) {
        walk->memory->start = walk->memory->end = 0; /* nothing old */
        if (walk_chunks(walk, first)) {
            split_add(split, &walk->split);
            return true;
        }
    }
    return false;
}

/* --- the main arena -------------------------------------------------------------------------- */

/* A program that is linked statically takes some of brk() before malloc does, which then begins
 * with the cache of the first thread. */
static uint64_t find_first_cache(struct process_memory *memory, uint64_t start, uint64_t end)
{
    if (end - start > START_SEARCH_BYTES)
        end = start + START_SEARCH_BYTES;
    for (uint64_t chunk = start + CHUNK_ALIGN; chunk + CHUNK_LEAST <= end; chunk += CHUNK_ALIGN) {
        uint64_t word;

        if (!memory_word(memory, chunk + SIZE_FIELD, &word))
            return 0;
        if (word == (CACHE_CHUNK | PREVIOUS_IN_USE))
            return chunk;
    }
    return 0;
}

bool glibc_main_heap(struct process_memory *memory, uint64_t start, uint64_t end,
                     struct heap_split *split)
{
    struct walk walk = {.memory = memory, .end = end, .is_main = true};
    uint64_t first;

    if (walk_tries(&walk, start, split))
        return true;
    first = find_first_cache(memory, start, end);
    if (!first || !walk_tries(&walk, first, split))
        return false;
    split->own_bytes += memory_resident_bytes(memory, start, first);
    return true;
}

/* --- fast bins ------------------------------------------------------------------------------- */

/* Since 2.32 the pointer to the next one is mixed with where it stands. */
static uint64_t next_in_bin(uint64_t stored, uint64_t stands_at, bool is_mixed)
{
    return is_mixed ? stored ^ stands_at >> 12 : stored;
}

/* The chunks of a list are of one size; false: it is none. */
static bool bin_length(struct process_memory *memory, uint64_t chunk, uint64_t size_bytes,
                       bool is_mixed, uint64_t *count)
{
    *count = 0;
    while (chunk) {
        uint64_t words[3];
        const void *at = chunk % CHUNK_ALIGN ? NULL : memory_at(memory, chunk, sizeof(words));

        if (!at || *count == FASTBIN_CHUNKS_MOST)
            return false;
        memcpy(words, at, sizeof(words));
        if ((words[1] & ~(uint64_t)FLAGS) != size_bytes)
            return false;
        ++*count;
        chunk = next_in_bin(words[2], chunk + CHUNK_HEAD, is_mixed);
    }
    return true;
}

static bool read_fastbins(struct process_memory *memory, uint64_t arena, bool is_mixed,
                          uint64_t *bytes, uint64_t *chunk_count)
{
    *bytes = *chunk_count = 0;
    for (uint64_t i = 0; i < FASTBINS; i++) {
        uint64_t head, size_bytes = CHUNK_LEAST + i * CHUNK_ALIGN, count;

        if (!memory_word(memory, arena + FASTBINS_OFFSET + i * sizeof(head), &head) ||
            !bin_length(memory, head, size_bytes, is_mixed, &count))
            return false;
        *bytes += count * size_bytes;
        *chunk_count += count;
    }
    return true;
}

/* Its chunks looked as if they were in use, but for those of caches. */
static bool add_fastbins(struct process_memory *memory, uint64_t arena, struct heap_split *split)
{
    uint64_t bytes, count;

    if (!read_fastbins(memory, arena, true, &bytes, &count) &&
        !read_fastbins(memory, arena, false, &bytes, &count))
        return false;
    if (count > split->block_count)
        return false;
    split->cached_bytes += bytes;
    split->block_count -= count;
    split->is_fastbins_read = true;
    return true;
}

/* The words of an arena say what was found without it. */
static bool is_arena(struct process_memory *memory, uint64_t arena, uint64_t top)
{
    uint64_t found_top, system_bytes, system_most_bytes;

    return memory_word(memory, arena + TOP_OFFSET, &found_top) && found_top == top &&
           memory_word(memory, arena + SYSTEM_OFFSET, &system_bytes) &&
           memory_word(memory, arena + SYSTEM_MOST_OFFSET, &system_most_bytes) && system_bytes &&
           system_bytes % CHUNK_ALIGN == 0 && system_bytes <= system_most_bytes;
}

bool glibc_main_fastbins(struct process_memory *memory, uint64_t start, uint64_t end,
                         struct heap_split *split)
{
    for (uint64_t at = start; split->top && at + sizeof(at) <= end; at += sizeof(at)) {
        uint64_t word;

        if (!memory_word(memory, at, &word)) {
            at =
                memory_next_resident(memory, memory_next_absent(memory, at, end), end) - sizeof(at);
            continue;
        }
        if (word == split->top && is_arena(memory, at - TOP_OFFSET, word))
            return add_fastbins(memory, at - TOP_OFFSET, split);
    }
    return false;
}

/* --- other arenas ---------------------------------------------------------------------------- */

static bool is_first_heap(uint64_t address, uint64_t arena)
{
    return arena - address == HEAP_INFO_BYTES || arena - address == HEAP_INFO_NEW_BYTES;
}

bool glibc_arena_heap(struct process_memory *memory, uint64_t address, uint64_t end,
                      struct arena_heap *heap)
{
    struct {
        uint64_t arena, previous, size_bytes, writable_bytes;
    } info;
    const void *at = memory_at(memory, address, sizeof(info));

    if (!at)
        return false;
    memcpy(&info, at, sizeof(info));
    if (info.size_bytes < memory->page_bytes || info.size_bytes % memory->page_bytes ||
        info.size_bytes > GLIBC_HEAP_ALIGN || info.writable_bytes < info.size_bytes ||
        info.size_bytes > end - address || info.previous % GLIBC_HEAP_ALIGN)
        return false;
    if (!is_first_heap(address, info.arena) &&
        (!info.previous ||
         !is_first_heap(info.arena / GLIBC_HEAP_ALIGN * GLIBC_HEAP_ALIGN, info.arena)))
        return false;
    *heap = (struct arena_heap){info.arena, info.size_bytes};
    return true;
}

bool glibc_arena_split(struct process_memory *memory, uint64_t address,
                       const struct arena_heap *heap, struct heap_split *split)
{
    struct walk walk = {.memory = memory, .end = address + heap->size_bytes};
    bool is_first = is_first_heap(address, heap->arena);
    uint64_t first = is_first ? heap->arena + STATE_BYTES : address + HEAP_INFO_NEW_BYTES;

    first = (first + CHUNK_ALIGN - 1) / CHUNK_ALIGN * CHUNK_ALIGN;
    if (!walk_tries(&walk, first, split)) {
        first = address + HEAP_INFO_BYTES;
        if (is_first || !walk_tries(&walk, first, split))
            return false;
    }
    split->own_bytes += first - address;
    if (is_first) /* the lists of the arena are counted once */
        add_fastbins(memory, heap->arena, split);
    return true;
}

/* --- blocks with mappings of their own ------------------------------------------------------- */

uint64_t glibc_mapped_block(struct process_memory *memory, uint64_t address, uint64_t end)
{
    uint64_t words[2], size_bytes;
    const void *at = memory_at(memory, address, sizeof(words));

    if (!at)
        return 0;
    memcpy(words, at, sizeof(words));
    size_bytes = words[1] & ~(uint64_t)FLAGS;
    if ((words[1] & FLAGS) != IS_MAPPED || size_bytes % memory->page_bytes || !size_bytes ||
        words[0] % CHUNK_ALIGN || words[0] >= size_bytes || size_bytes > end - address)
        return 0;
    return size_bytes;
}
