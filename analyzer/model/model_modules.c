/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is loaded where, and when.
 */
#include <string.h>

#include "hash.h"
#include "model_state.h"

static uint64_t module_hash(const struct model_module *module)
{
    return hash_pair(hash_pair(module->base, module->size_bytes),
                     hash_pair((uint64_t)module->path << 16 | module->process,
                               hash_bytes(module->build_id, module->build_id_bytes)));
}

static bool is_module(const struct model_module *a, const struct model_module *b)
{
    return a->process == b->process && a->base == b->base && a->size_bytes == b->size_bytes &&
           a->bias == b->bias && a->path == b->path && a->build_id_bytes == b->build_id_bytes &&
           memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}

/* One more than its row; 0: it was never loaded there. */
static uint32_t module_find(const struct model *model, const struct model_module *module)
{
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&model->module_index, module_hash(module), &probe, &found))
        if (is_module(&model_module_row(model, found)->module, module))
            return found + 1;
    return 0;
}

/* Loaded, or loaded again. What was there before is gone, whether or not that was told. */
static uint32_t module_loaded(struct model *model, const struct model_module *module)
{
    uint32_t next = module_find(model, module);
    uint32_t before = module_map_at(&model->module_map, module->process, module->base);
    struct module_row *row = next ? model_module_row(model, next - 1) : NULL;

    if (!row) {
        row = model_row_add(model, &model->modules, &model->module_index, module_hash(module),
                            UINT32_MAX - 1, "modules");
        if (!row)
            return 0;
        row->module = *module;
        next = (uint32_t)model->modules.count;
    }
    row->module.unloaded_ns = module->unloaded_ns;
    if (before && before != next) {
        struct model_module *old = &model_module_row(model, before - 1)->module;

        row->replaces = old->base == module->base && old->unloaded_ns == UINT64_MAX;
        if (row->replaces)
            old->unloaded_ns = module->loaded_ns;
    }
    return next;
}

/* Sets forget the sites of the regions. An epoch that comes round again would know old ones. */
static void regions_change(struct model *model, uint64_t first, uint64_t last)
{
    uint64_t count = (last >> REGION_BITS) - (first >> REGION_BITS) + 1;

    for (uint64_t i = 0; i < count && i < REGIONS; i++)
        if (!++*model_region_epoch(model, first + (i << REGION_BITS)))
            stretch_clear(&model->site_sets);
}

bool model_module(struct model *model, const struct model_module *module)
{
    struct module_stretch stretch = {module->process, module->base,
                                     module->base + module->size_bytes - 1};
    uint32_t next = model->is_reread ? module_find(model, module) : module_loaded(model, module);
    enum module_map_change change;

    if (!next || !module->size_bytes)
        return false;
    if (stretch.last < stretch.first)
        stretch.last = UINT64_MAX;
    change = module_map_put(&model->module_map, stretch, next);
    if (change == MODULE_MAP_NO_MEMORY)
        model_fail(model, "modules");
    if (change != MODULE_MAP_SAME)
        regions_change(model, stretch.first, stretch.last);
    return change == MODULE_MAP_OTHER;
}

/* What is there stays known until something else is loaded to the same addresses. */
void model_module_gone(struct model *model, uint16_t process, uint64_t base, uint64_t time_ns)
{
    uint32_t next = model->is_reread ? 0 : module_map_at(&model->module_map, process, base);
    struct module_row *row = next ? model_module_row(model, next - 1) : NULL;

    if (!row || row->module.base != base)
        return;
    if (!row->replaces && row->module.unloaded_ns == UINT64_MAX)
        row->module.unloaded_ns = time_ns;
    row->replaces = false;
}

static const struct model_module *module_of(const struct model *model, uint32_t module_next)
{
    return module_next ? &model_module_row(model, module_next - 1)->module : NULL;
}

size_t model_module_count(const struct model *model)
{
    return table_count(&model->modules);
}

const struct model_module *model_site_module(const struct model *model, uint32_t index)
{
    return module_of(model, ((const struct site_row *)table_at(&model->sites, index))->module_next);
}

const struct model_module *model_frame_module(const struct model *model, uint32_t index)
{
    return module_of(model,
                     ((const struct frame_row *)table_at(&model->frames, index))->module_next);
}

const struct model_module *model_module_at(const struct model *model, size_t index)
{
    return &model_module_row(model, index)->module;
}
