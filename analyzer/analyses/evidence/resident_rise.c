/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the resident memory of a process rise over its accounts, and by which parts?
 */
#include "resident_rise.h"

#include <stdlib.h>

#include "labels.h"
#include "leaktide/invariant.h"
#include "thresholds.h"
#include "trend.h"

enum { PARTS_SHOWN_PERCENT = 10 };

static const struct resident_cause causes[] = {
    {ACCOUNT_BLOCKS, true, "blocks", "blocks that are not freed",
     "leaktide leaks says which lines keep them"},
    {ACCOUNT_KEPT, false, "kept by malloc", "freed, and kept by malloc: no leak",
     "call malloc_trim(0) at a quiet moment, set MALLOC_ARENA_MAX=2 where arenas are many, or try "
     "jemalloc"},
    {ACCOUNT_HEAP, true, "heap not split", "in a heap that is not malloc's of glibc",
     "ask that allocator for its own statistics"},
    {ACCOUNT_PYTHON_OBJECTS, true, "python objects", "small objects of Python that are not freed",
     "leaktide leaks says which lines keep them, of a recording with --device=cpu "
     "--call-stack=python"},
    {ACCOUNT_PYTHON_KEPT, false, "kept by python", "pools of Python that few objects pin: no leak",
     "make what lives long before what is many and lives short"},
    {ACCOUNT_JAVA_OBJECTS, true, "java objects",
     "objects of Java that are in use, or were not collected yet",
     "jcmd PID GC.class_histogram says of which classes; a dump of the heap says who keeps them"},
    {ACCOUNT_JAVA_KEPT, false, "kept by java", "kept free by Java for its heap: no leak",
     "set -Xmx lower, or have G1 give it back with -XX:G1PeriodicGCInterval"},
    {ACCOUNT_ANONYMOUS, true, "anonymous mappings", "mapped without a file and not unmapped",
     "leaktide leaks says who maps it, of a recording with --device=cpu; what a program maps by "
     "system calls of its own is not recorded"},
    {ACCOUNT_SHARED, true, "shared memory", "shared memory that is not given back",
     "unmap it and unlink its name where it is made; files of tmpfs stay until then"},
    {ACCOUNT_FILES, false, "mapped files",
     "files that stay mapped: the kernel can take the pages "
     "back, but not the mappings",
     "unmap what is not read any more"},
    {ACCOUNT_STACKS, true, "stacks of threads", "stacks of threads that do not end",
     "end or reuse the threads; join or detach those that have ended"},
};

/* Rough accounts say no more of these than their sum. */
static const enum account_part heap_parts[] = {
    ACCOUNT_BLOCKS,       ACCOUNT_KEPT,        ACCOUNT_MALLOC_OWN,
    ACCOUNT_HEAP,         ACCOUNT_PYTHON_KEPT, ACCOUNT_PYTHON_OBJECTS,
    ACCOUNT_JAVA_OBJECTS, ACCOUNT_JAVA_KEPT,   ACCOUNT_ANONYMOUS};
enum { HEAP_PARTS = sizeof(heap_parts) / sizeof(heap_parts[0]) };
_Static_assert(ACCOUNT_PART_COUNT + HEAP_PARTS <= RESIDENT_PARTS_MOST, "a heap is split in parts");

static const struct resident_cause rough_cause = {
    ACCOUNT_HEAP, true, "heap or plain mappings",
    "in heaps or mappings without a file; the recording is too short to look into them",
    "record longer, or ask while it runs: leaktide account PID"};

const struct resident_cause *resident_cause_of(const struct resident_part *part)
{
    MT_ASSERT(part->part < ACCOUNT_PART_COUNT);
    if (part->is_rough)
        return &rough_cause;
    for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
        if (causes[i].part == part->part)
            return &causes[i];
    return NULL;
}

/* --- does it grow? ------------------------------------------------------------------------- */

/* The newest account before the last third of the time since the base: they need not be even. */
static size_t late_account(const struct memory_account *accounts, size_t count, size_t base)
{
    uint64_t end_ns = accounts[count - 1].time_ns, span_ns = end_ns - accounts[base].time_ns;
    size_t late = count - 1;

    while (late > base && end_ns - accounts[late].time_ns < span_ns / THIRD_SHARE)
        late--;
    return late;
}

/* numbers: one for each account. Returns the index of the base, or count where nothing grew. */
static size_t growth_base(const struct memory_account *accounts, const uint64_t *numbers,
                          size_t count)
{
    size_t base = count / BEGIN_SHARE, judged = count - base;
    uint64_t grown, late;

    if (!judged || numbers[count - 1] <= numbers[base])
        return count;
    grown = numbers[count - 1] - numbers[base];
    late = numbers[late_account(accounts, count, base)];
    if (grown < GROWN_BYTES_MIN || grown < numbers[base] / SMALL_SHARE ||
        numbers[count - 1] <= late || numbers[count - 1] - late < grown / STILL_SHARE)
        return count;
    if (judged > TREND_MAX) {
        numbers += judged - TREND_MAX;
        judged = TREND_MAX;
    }
    return trend_of(numbers + base, judged).rise_chance < CHANCE_MAX ? base : count;
}

/* An arena without memory has failed: whoever writes the answer says so. */
size_t resident_rise_base(struct arena *arena, const struct memory_account *accounts, size_t count,
                          uint64_t (*number)(const struct memory_account *account))
{
    uint64_t *numbers = arena_alloc(arena, (count + 1) * sizeof(*numbers));

    if (!numbers)
        return count;
    for (size_t i = 0; i < count; i++)
        numbers[i] = number(&accounts[i]);
    return growth_base(accounts, numbers, count);
}

uint64_t resident_bytes_of(const struct memory_account *account)
{
    return account->figures[ACCOUNT_FIGURE_RESIDENT];
}

static int grown_compare(const void *left, const void *right)
{
    const struct resident_part *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->part > b->part) - (a->part < b->part);
}

static bool is_of_heap(enum account_part part)
{
    for (size_t i = 0; i < HEAP_PARTS; i++)
        if (heap_parts[i] == part)
            return true;
    return false;
}

static uint64_t heap_bytes(const struct memory_account *account)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < HEAP_PARTS; i++)
        sum += memory_account_part(account, heap_parts[i]);
    return sum;
}

/* The first and the last account that are not rough; false: there are no two. */
static bool whole_accounts(const struct memory_account *accounts, size_t count,
                           struct resident_part *grown)
{
    grown->base = grown->newest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (memory_account_is_rough(&accounts[i]))
            continue;
        if (!grown->base)
            grown->base = &accounts[i];
        grown->newest = &accounts[i];
    }
    return grown->base != grown->newest;
}

/* Growth of heaps, by the shares that their parts had in it where both were looked into. */
static size_t split_heap(const struct memory_account *accounts, size_t count,
                         const struct resident_part *heap, struct resident_part *parts)
{
    struct resident_part wholes = *heap;
    uint64_t sum = 0, grown[HEAP_PARTS];
    size_t part_count = 0;

    if (!whole_accounts(accounts, count, &wholes) ||
        heap_bytes(wholes.newest) <= heap_bytes(wholes.base))
        return 0;
    for (size_t i = 0; i < HEAP_PARTS; i++) {
        grown[i] = risen_bytes(memory_account_part(wholes.base, heap_parts[i]),
                               memory_account_part(wholes.newest, heap_parts[i]));
        sum += grown[i];
    }
    for (size_t i = 0; i < HEAP_PARTS; i++) {
        if (percent_of(grown[i], sum) < PARTS_SHOWN_PERCENT)
            continue;
        parts[part_count] = wholes;
        parts[part_count].part = heap_parts[i];
        parts[part_count++].bytes = (uint64_t)((unsigned __int128)heap->bytes * grown[i] / sum);
    }
    return part_count;
}

size_t resident_rise_parts(const struct memory_account *accounts, size_t count, size_t base_index,
                           struct resident_part *parts)
{
    const struct memory_account *base = &accounts[base_index], *newest = &accounts[count - 1];
    bool is_rough = memory_account_is_rough(base) || memory_account_is_rough(newest);
    uint64_t whole = resident_bytes_of(newest) - resident_bytes_of(base);
    size_t part_count = 0;

    MT_ASSERT(base_index + 1 < count);
    MT_ASSERT(resident_bytes_of(base) < resident_bytes_of(newest));
    for (int part = 0; part < ACCOUNT_PART_COUNT; part++) {
        uint64_t bytes =
            risen_bytes(memory_account_part(base, part), memory_account_part(newest, part));

        if (is_rough && is_of_heap(part))
            bytes = part == ACCOUNT_HEAP ? risen_bytes(heap_bytes(base), heap_bytes(newest)) : 0;
        if (percent_of(bytes, whole) < PARTS_SHOWN_PERCENT)
            continue;
        parts[part_count] = (struct resident_part){base, newest, part, bytes, whole, false};
        if (is_rough && part == ACCOUNT_HEAP) {
            const struct resident_part heap = parts[part_count];
            size_t split = split_heap(accounts, count, &heap, &parts[part_count]);

            parts[part_count].is_rough = !split;
            part_count += split ? split - 1 : 0;
        }
        part_count++;
    }
    if (part_count)
        qsort(parts, part_count, sizeof(*parts), grown_compare);
    return part_count;
}
