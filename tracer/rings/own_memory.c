/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "own_memory.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "leaktide/invariant.h"
#include "leaktide/rings.h"

enum { RANGES = MT_RINGS_OWN_RANGES };

static struct {
    uint64_t ranges[RANGES]; /* 0: free */
    uint64_t filled_bytes;
    struct mt_rings_process *place;
} own;

static uint64_t word_of(struct own_range range)
{
    uint64_t count = (range.end - range.start) / OWN_PAGE_BYTES;

    MT_ASSERT(range.start < range.end);
    MT_ASSERT((range.start | range.end) % OWN_PAGE_BYTES == 0);
    return range.start / OWN_PAGE_BYTES << OWN_COUNT_BITS | count;
}

static void show(int number)
{
    struct mt_rings_process *place = __atomic_load_n(&own.place, __ATOMIC_ACQUIRE);

    if (place)
        __atomic_store_n(&place->own_ranges[number],
                         __atomic_load_n(&own.ranges[number], __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

static bool change(int number, uint64_t before, uint64_t after)
{
    MT_ASSERT(number >= 0 && number < RANGES);

    bool is_changed = __atomic_compare_exchange_n(&own.ranges[number], &before, after, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);

    if (is_changed)
        show(number);
    return is_changed;
}

static struct own_range range_at(int number, uint64_t *word)
{
    MT_ASSERT(number >= 0 && number < RANGES);
    *word = __atomic_load_n(&own.ranges[number], __ATOMIC_ACQUIRE);
    return own_range_of(*word);
}

static struct own_range range_of(const void *memory, size_t size_bytes)
{
    uint64_t start = (uint64_t)(uintptr_t)memory / OWN_PAGE_BYTES * OWN_PAGE_BYTES;
    uint64_t end = (uint64_t)(uintptr_t)memory + size_bytes + OWN_PAGE_BYTES - 1;

    return (struct own_range){start, end / OWN_PAGE_BYTES * OWN_PAGE_BYTES};
}

/* Makes one that it touches longer. */
static bool join(struct own_range added)
{
    for (int i = 0; i < RANGES; i++) {
        uint64_t word;
        struct own_range range = range_at(i, &word);

        if (!word || (range.end != added.start && range.start != added.end))
            continue;
        range.start = range.start < added.start ? range.start : added.start;
        range.end = range.end > added.end ? range.end : added.end;
        if (change(i, word, word_of(range)))
            return true;
    }
    return false;
}

static void add(struct own_range added)
{
    if (added.start >= added.end || join(added))
        return;
    for (int i = 0; i < RANGES; i++)
        if (!__atomic_load_n(&own.ranges[i], __ATOMIC_RELAXED) && change(i, 0, word_of(added)))
            return;
}

void own_memory_note(const void *memory, size_t size_bytes)
{
    add(range_of(memory, size_bytes));
}

void own_memory_forget(const void *memory, size_t size_bytes)
{
    struct own_range gone = range_of(memory, size_bytes);

    for (int i = 0; i < RANGES; i++) {
        uint64_t word;
        struct own_range range = range_at(i, &word), before, after;

        if (!word || range.end <= gone.start || range.start >= gone.end)
            continue;
        before = (struct own_range){range.start, gone.start};
        after = (struct own_range){gone.end, range.end};
        if (before.start >= before.end) {
            before = after;
            after.end = after.start;
        }
        if (change(i, word, before.start < before.end ? word_of(before) : 0))
            add(after);
    }
}

bool own_memory_next(uint64_t start, uint64_t end, struct own_range *first)
{
    *first = (struct own_range){end, end};
    for (int i = 0; i < RANGES; i++) {
        uint64_t word;
        struct own_range range = range_at(i, &word);

        if (!word || range.end <= start || range.start >= first->start)
            continue;
        first->start = range.start > start ? range.start : start;
        first->end = range.end < end ? range.end : end;
    }
    return first->start < end;
}

void own_memory_fill(uint64_t more_bytes)
{
    struct mt_rings_process *place = __atomic_load_n(&own.place, __ATOMIC_ACQUIRE);
    uint64_t filled = __atomic_add_fetch(&own.filled_bytes, more_bytes, __ATOMIC_RELAXED);

    if (place)
        __atomic_store_n(&place->own_bytes, filled, __ATOMIC_RELAXED);
}

uint64_t own_memory_filled(void)
{
    return __atomic_load_n(&own.filled_bytes, __ATOMIC_RELAXED);
}

void own_memory_show(struct mt_rings_process *place)
{
    __atomic_store_n(&own.place, place, __ATOMIC_RELEASE);
    for (int i = 0; i < RANGES; i++)
        show(i);
    own_memory_fill(0);
}

void *own_memory_map(size_t size_bytes)
{
    long address = syscall(SYS_mmap, NULL, size_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (address == -1)
        return NULL;
    own_memory_note((const void *)address, size_bytes);
    return (void *)address;
}

void own_memory_unmap(void *memory, size_t size_bytes)
{
    own_memory_forget(memory, size_bytes);
    syscall(SYS_munmap, memory, size_bytes);
}
