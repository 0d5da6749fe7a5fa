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

static void find_jemalloc(struct other_heaps *heaps, const struct mappings *mappings, size_t index)
{
    const struct mapping *variables = &mappings->rows[index];
    struct other_heap *heap = &heaps->heaps[heaps->count];
    uint64_t start = variables->start, end;

    if (variables->end - start < JEMALLOC_TREE_BYTES)
        return;
    end = variables_end(heaps, mappings, index);
    if (!jemalloc_find(&heap->jemalloc, &heaps->memory, mappings, start, end))
        return;
    snprintf(heap->name, sizeof(heap->name), ACCOUNT_NAME_JEMALLOC "%.64s",
             base_of(mappings->rows[index - 1].name));
    heaps->count++;
}

void other_heaps_find(struct other_heaps *heaps, int folder, const struct mappings *mappings)
{
    heaps->count = 0;
    heaps->is_open = process_memory_open(&heaps->memory, folder);
    for (size_t i = 1; heaps->is_open && i < mappings->count; i++) {
        const struct mapping *before = &mappings->rows[i - 1];

        /* Its heap is the recorder's, and small. */
        if (heaps->count < OTHER_HEAPS_MOST && are_variables(&mappings->rows[i], before) &&
            strcmp(base_of(before->name), MT_TRACER_FILE_NAME) != 0)
            find_jemalloc(heaps, mappings, i);
    }
}

void other_heaps_release(struct other_heaps *heaps)
{
    if (heaps->is_open)
        process_memory_close(&heaps->memory);
    heaps->is_open = false;
    heaps->count = 0;
}

const struct other_heap *other_heaps_extent(struct other_heaps *heaps, uint64_t address,
                                            uint64_t end, struct jemalloc_extent *extent)
{
    for (size_t i = 0; i < heaps->count; i++) {
        *extent = jemalloc_extent_at(&heaps->heaps[i].jemalloc, address, end);
        if (extent->size_bytes)
            return &heaps->heaps[i];
    }
    return NULL;
}
