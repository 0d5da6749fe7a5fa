/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are left when the process ends.
 */
#include "dump_shadows.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"

/* In the order in which they are freed on paper. */
static const struct {
    const char *name;
    bool is_driver;
} types[] = {
    {"PTA", false}, {"PTA_WORKSPACE", false}, {"ATB", false}, {"MINDSPORE", false},
    {"HAL", true},  {"HOST", true},
};

enum { type_count = sizeof(types) / sizeof(types[0]) };

static uint32_t type_index(const char *name)
{
    uint32_t i = 0;

    while (i < type_count && strcmp(types[i].name, name) != 0)
        i++;
    return i;
}

const char *dump_type_known(const char *type)
{
    uint32_t index = type_index(type);

    return index < type_count ? types[index].name : NULL;
}

static uint64_t number_at(const struct memscope_row *row, const char *key)
{
    for (size_t i = 0; i < row->attribute_count; i++)
        if (strcmp(row->attributes[i].key, key) == 0)
            return row->attributes[i].number;
    return 0;
}

bool dump_shadows_add(struct dump_shadows *shadows, const struct memscope_row *row)
{
    if (!list_has_room(&shadows->rows, &shadows->capacity, shadows->count, sizeof(*shadows->rows)))
        return false;
    shadows->rows[shadows->count++] = (struct dump_shadow){
        .allocation = number_at(row, "allocation_id"),
        .address = row->pointer,
        .size_bytes = number_at(row, "size"),
        .time_ns = row->time_ns,
        .process_id = row->process_id,
        .thread_id = row->thread_id,
        .device = row->device,
        .type = type_index(row->type),
    };
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct dump_shadow *first = a, *second = b;

    if (types[first->type].is_driver != types[second->type].is_driver)
        return types[first->type].is_driver ? 1 : -1;
    return (first->allocation > second->allocation) - (first->allocation < second->allocation);
}

void dump_shadows_sort(struct dump_shadows *shadows)
{
    if (shadows->count)
        qsort(shadows->rows, shadows->count, sizeof(*shadows->rows), compare);
}

struct memscope_row dump_shadow_row(const struct dump_shadow *shadow)
{
    struct memscope_row row = {
        .event = "FREE",
        .type = types[shadow->type].name,
        .time_ns = shadow->time_ns,
        .process_id = shadow->process_id,
        .thread_id = shadow->thread_id,
        .device = shadow->device,
        .has_pointer = true,
        .pointer = shadow->address,
        .python_stack = "",
        .c_stack = "",
    };

    memscope_number(&row, "allocation_id", shadow->allocation);
    memscope_address(&row, "addr", shadow->address);
    memscope_number(&row, "size", shadow->size_bytes);
    memscope_text(&row, "shadow", "true");
    return row;
}
