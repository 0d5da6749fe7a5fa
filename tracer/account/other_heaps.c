/* SPDX-License-Identifier: Apache-2.0 */
#include "other_heaps.h"

#include <stdio.h>
#include <string.h>

#include "leaktide/account_parts.h"
#include "leaktide/preload.h"
#include "object_image.h"

/* The variables of an object that no file holds begin right after it. */
static bool are_variables(const struct mapping *mapping, const struct mapping *before)
{
    return mapping_is_plain(mapping) && mapping_is_writable(mapping) && before->name[0] == '/' &&
           before->end == mapping->start;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* In how much of this mapping, which follows an object, are its variables? */
static uint64_t variables_end(struct other_heaps *heaps, const struct mappings *mappings,
                              size_t index)
{
    const struct mapping *variables = &mappings->rows[index], *object = variables - 1;
    uint64_t end;

    while (object > mappings->rows && object[-1].name == object->name)
        object--;
    end = object_end(&heaps->memory, object->start);
    return end < variables->end ? end : variables->end;
}

static void name_heap(struct other_heap *heap, const char *kind, const char *path)
{
    snprintf(heap->name, sizeof(heap->name), "%s%.64s", kind, base_of(path));
}

static void find_in_variables(struct other_heaps *heaps, const struct mappings *mappings,
                              size_t index)
{
    struct other_heap *heap = &heaps->heaps[heaps->count];
    uint64_t start = mappings->rows[index].start, end = variables_end(heaps, mappings, index);
    const char *object = mappings->rows[index - 1].name;

    if (jemalloc_find(&heap->jemalloc, &heaps->memory, mappings, start, end)) {
        heap->kind = HEAP_OF_JEMALLOC;
        name_heap(heap, ACCOUNT_NAME_JEMALLOC, object);
    } else if (tcmalloc_find(&heap->tcmalloc, &heaps->memory, mappings, start, end)) {
        heap->kind = HEAP_OF_TCMALLOC;
        heap->cached_bytes = heap->tcmalloc.cached_bytes;
        name_heap(heap, ACCOUNT_NAME_TCMALLOC, object);
    } else {
        return;
    }
    heaps->count++;
}

/* The name of the object whose variable it is; NULL: of none. */
static const char *object_of_variable(const struct mappings *mappings, uint64_t address)
{
    const struct mapping *mapping = mappings_find(mappings, address);

    if (mapping && mapping->name[0] == '/')
        return mapping->name;
    return mapping && mapping > mappings->rows && are_variables(mapping, mapping - 1)
               ? mapping[-1].name
               : NULL;
}

/* Its variables do not lead to its segments or arenas, but these to some. Else, a name tells at
 * best. */
static void name_mimalloc(struct other_heaps *heaps, const struct mappings *mappings,
                          uint64_t variable)
{
    const char *object = object_of_variable(mappings, variable);

    for (size_t i = 0; !object && i < mappings->count; i++)
        if (strstr(base_of(mappings->rows[i].name), "mimalloc"))
            object = mappings->rows[i].name;
    name_heap(&heaps->heaps[heaps->count], ACCOUNT_NAME_MIMALLOC, object ? object : "the program");
    heaps->count++;
}

static void find_mimalloc(struct other_heaps *heaps, const struct mappings *mappings)
{
    struct other_heap *heap = &heaps->heaps[heaps->count];

    if (heaps->count < OTHER_HEAPS_MOST &&
        mimalloc_find(&heap->mimalloc, &heaps->memory, mappings)) {
        heap->kind = HEAP_OF_MIMALLOC;
        name_mimalloc(heaps, mappings, heap->mimalloc.heap);
        heap = &heaps->heaps[heaps->count];
    }
    if (heaps->count < OTHER_HEAPS_MOST &&
        mimalloc3_find(&heap->mimalloc3, &heaps->memory, mappings)) {
        heap->kind = HEAP_OF_MIMALLOC3;
        name_mimalloc(heaps, mappings, heap->mimalloc3.owner);
    }
}

void other_heaps_find(struct other_heaps *heaps, int folder, const struct mappings *mappings)
{
    memset(heaps, 0, sizeof(*heaps));
    heaps->is_open = process_memory_open(&heaps->memory, folder);
    if (!heaps->is_open)
        return;
    for (size_t i = 1; i < mappings->count; i++) {
        const struct mapping *before = &mappings->rows[i - 1];

        /* Its heap is the recorder's, and small. */
        if (heaps->count < OTHER_HEAPS_MOST && are_variables(&mappings->rows[i], before) &&
            strcmp(base_of(before->name), MT_TRACER_FILE_NAME) != 0)
            find_in_variables(heaps, mappings, i);
    }
    find_mimalloc(heaps, mappings);
}

void other_heaps_release(struct other_heaps *heaps)
{
    if (heaps->is_open)
        process_memory_close(&heaps->memory);
    heaps->is_open = false;
    heaps->count = 0;
}

static struct heap_extent extent_at(struct other_heap *heap, uint64_t address, uint64_t end)
{
    switch (heap->kind) {
    case HEAP_OF_JEMALLOC:
        return jemalloc_extent_at(&heap->jemalloc, address, end);
    case HEAP_OF_TCMALLOC:
        return tcmalloc_extent_at(&heap->tcmalloc, address, end);
    case HEAP_OF_MIMALLOC:
        return mimalloc_extent_at(&heap->mimalloc, address, end);
    default:
        return mimalloc3_extent_at(&heap->mimalloc3, address, end);
    }
}

struct other_heap *other_heaps_extent(struct other_heaps *heaps, uint64_t address, uint64_t end,
                                      struct heap_extent *extent)
{
    for (size_t i = 0; i < heaps->count; i++) {
        *extent = extent_at(&heaps->heaps[i], address, end);
        if (extent->size_bytes)
            return &heaps->heaps[i];
    }
    return NULL;
}
