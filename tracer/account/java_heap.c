/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: src/hotspot/share/runtime/perfMemory.hpp and src/hotspot/share/gc/shared of OpenJDK 8 to
 * 21.
 */
#include "java_heap.h"

#include <string.h>

enum {
    COUNTERS_BYTES_MOST = 1 << 16,
    COUNTERS_MAGIC_BYTES = 4,
    NAME_MOST = 128,
    TYPE_LONG = 'J',
    ENTRIES_MOST = 4096
};

static const uint8_t magic[COUNTERS_MAGIC_BYTES] = {0xca, 0xfe, 0xc0, 0xc0};

/* struct PerfDataPrologue */
struct counters_head {
    uint8_t magic[COUNTERS_MAGIC_BYTES];
    uint8_t is_little, major, minor, is_ready;
    int32_t used_bytes, overflow_bytes;
    int64_t changed;
    int32_t first_bytes, count;
};

/* struct PerfDataEntry; the name and the number are in it, at these offsets. */
struct counter {
    int32_t size_bytes, name_bytes, vector_length;
    uint8_t type, flags, unit, variability;
    int32_t number_bytes;
};

struct counters {
    struct process_memory *memory;
    uint64_t start, end;
    uint64_t committed_bytes, used_bytes;
};

/* Up to a page, wherever it lies. */
static bool copy(struct counters *counters, uint64_t at, void *into, size_t size_bytes)
{
    const void *bytes = NULL;

    if (at >= counters->start && at <= counters->end && size_bytes <= counters->end - at)
        bytes = memory_at(counters->memory, at, size_bytes);
    if (bytes)
        memcpy(into, bytes, size_bytes);
    return bytes != NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* "sun.gc.generation.1.capacity", "sun.gc.generation.1.space.0.used" */
static void counter_take(struct counters *counters, const char *name, uint64_t number)
{
    static const char generation[] = "sun.gc.generation.";
    uint64_t page = counters->memory->page_bytes;
    bool is_of_space = strstr(name, ".space.") != NULL;

    if (strncmp(name, generation, sizeof(generation) - 1) != 0)
        return;
    if (is_of_space && ends_with(name, ".used"))
        counters->used_bytes += number;
    else if (!is_of_space && ends_with(name, ".capacity"))
        counters->committed_bytes += number / page * page; /* that of G1 is some bytes too much */
}

/* Returns where the next one is; 0: this is none. */
static uint64_t counter_read(struct counters *counters, uint64_t at)
{
    struct counter counter;
    char name[NAME_MOST] = "";
    uint64_t number, name_at;

    if (!copy(counters, at, &counter, sizeof(counter)) ||
        counter.size_bytes < (int32_t)sizeof(counter) || counter.name_bytes < 0 ||
        counter.number_bytes < 0)
        return 0;
    name_at = at + (uint64_t)counter.name_bytes;
    for (size_t i = 0; i < sizeof(name) - 1; i++)
        if (!copy(counters, name_at + i, &name[i], 1) || !name[i])
            break;
    if (counter.type == TYPE_LONG && !counter.vector_length &&
        copy(counters, at + (uint64_t)counter.number_bytes, &number, sizeof(number)))
        counter_take(counters, name, number);
    return at + (uint64_t)counter.size_bytes;
}

static bool counters_read(struct counters *counters)
{
    struct counters_head head;
    uint64_t at = counters->start;

    if (!copy(counters, at, &head, sizeof(head)) || memcmp(head.magic, magic, sizeof(magic)) != 0 ||
        !head.is_little || !head.is_ready || head.first_bytes < 0)
        return false;
    at += (uint64_t)head.first_bytes;
    for (int32_t i = 0; at && i < head.count && i < ENTRIES_MOST; i++)
        at = counter_read(counters, at);
    return counters->committed_bytes != 0;
}

/* --- where it is ----------------------------------------------------------------------------- */

/* Of the heap, or reserved for it; the last pages may be of the archive of classes. */
static bool may_be_of_heap(const struct mapping *mapping)
{
    return !mapping_is_shared(mapping) && (!mapping->name[0] || ends_with(mapping->name, ".jsa"));
}

/* Mappings from the first one on that stand one after the other; returns how many. */
static size_t row_of_mappings(const struct mappings *mappings, size_t first,
                              uint64_t *committed_bytes)
{
    size_t i = first;

    *committed_bytes = 0;
    do {
        const struct mapping *mapping = &mappings->rows[i];

        *committed_bytes += mapping_is_writable(mapping) ? mapping->end - mapping->start : 0;
        i++;
    } while (i < mappings->count && mappings->rows[i].start == mappings->rows[i - 1].end &&
             may_be_of_heap(&mappings->rows[i]));
    return i - first;
}

static void find_mappings(struct java_heap *heap, const struct mappings *mappings,
                          const struct counters *counters)
{
    for (size_t i = 0; i < mappings->count;) {
        uint64_t committed_bytes;
        size_t count = 1;

        if (may_be_of_heap(&mappings->rows[i])) {
            count = row_of_mappings(mappings, i, &committed_bytes);
            if (committed_bytes == counters->committed_bytes) {
                *heap = (struct java_heap){mappings->rows[i].start,
                                           mappings->rows[i + count - 1].end, counters->used_bytes};
                return;
            }
        }
        i += count;
    }
}

void java_heap_find(struct java_heap *heap, struct process_memory *memory,
                    const struct mappings *mappings)
{
    *heap = (struct java_heap){0};
    for (size_t i = 0; i < mappings->count; i++) {
        const struct mapping *mapping = &mappings->rows[i];
        struct counters counters = {.memory = memory, .start = mapping->start, .end = mapping->end};

        if (!strstr(mapping->name, "/hsperfdata_") ||
            mapping->end - mapping->start > COUNTERS_BYTES_MOST)
            continue;
        if (counters_read(&counters))
            find_mappings(heap, mappings, &counters);
        return;
    }
}
