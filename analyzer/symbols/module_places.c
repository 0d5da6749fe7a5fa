/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules by process and address.
 *
 * Modules of different times may overlap. Each row knows how far it and all rows before it reach,
 * so a search goes back only while one of those may still hold the address.
 */
#include "module_places.h"

#include <stdbool.h>
#include <stdlib.h>

#include "compare.h"

struct module_place {
    uint64_t base, reach; /* reach: where the last of this and all before it ends */
    uint32_t index;       /* of the model */
    uint16_t process;
};

void module_places_init(struct module_places *places, const struct model *model)
{
    *places = (struct module_places){.model = model};
}

void module_places_release(struct module_places *places)
{
    free(places->rows);
    *places = (struct module_places){.model = NULL};
}

static int place_compare(const void *left, const void *right)
{
    const struct module_place *a = left, *b = right;

    if (a->process != b->process)
        return compare_numbers(a->process, b->process);
    if (a->base != b->base)
        return compare_numbers(a->base, b->base);
    return compare_numbers(a->index, b->index);
}

static void find_reaches(struct module_places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        struct module_place *row = &places->rows[i];
        uint64_t size_bytes = model_module_at(places->model, row->index)->size_bytes;
        const struct module_place *before = i ? row - 1 : NULL;

        row->reach = row->base + size_bytes < row->base ? UINT64_MAX : row->base + size_bytes;
        if (before && before->process == row->process && before->reach > row->reach)
            row->reach = before->reach;
    }
}

/* False without memory. */
static bool make(struct module_places *places)
{
    size_t count = model_module_count(places->model);
    struct module_place *rows = malloc((count + 1) * sizeof(*rows));

    if (!rows)
        return false;
    free(places->rows);
    places->rows = rows;
    places->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct model_module *module = model_module_at(places->model, i);

        rows[i] = (struct module_place){
            .base = module->base, .index = (uint32_t)i, .process = module->process};
    }
    qsort(rows, count, sizeof(*rows), place_compare);
    find_reaches(places);
    return true;
}

/* How many rows begin at the address or before it. */
static size_t rows_up_to(const struct module_places *places, uint16_t process, uint64_t address)
{
    size_t low = 0, high = places->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct module_place *row = &places->rows[middle];

        if (row->process < process || (row->process == process && row->base <= address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct model_module *module_places_at(struct module_places *places, uint16_t process,
                                            uint64_t address, uint64_t time_ns)
{
    const struct model_module *then = NULL, *ever = NULL;
    uint32_t then_index = 0, ever_index = 0;

    if (places->count != model_module_count(places->model) && !make(places))
        return NULL;
    for (size_t i = rows_up_to(places, process, address); i-- > 0;) {
        const struct module_place *row = &places->rows[i];
        const struct model_module *module = model_module_at(places->model, row->index);

        if (row->process != process || row->reach <= address)
            break;
        if (address - module->base >= module->size_bytes)
            continue;
        if (!ever || row->index > ever_index) {
            ever = module;
            ever_index = row->index;
        }
        if (module->loaded_ns <= time_ns && time_ns <= module->unloaded_ns &&
            (!then || row->index > then_index)) {
            then = module;
            then_index = row->index;
        }
    }
    return then ? then : ever;
}
