/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds of a whole model at any time.
 */
#include "leaktide/invariant.h"
#include "memory_failures.h"
#include "model_state.h"

static void site_check(const struct model *model, const struct site_row *row)
{
    MT_ASSERT(row->module_next <= model->modules.count);
    MT_ASSERT(row->site.label < model->texts.count);
    MT_ASSERT(row->site.stack < model->stacks.count);
    MT_ASSERT(row->site.address || row->site.label || row->site.stack);
}

static void frame_check(const struct model *model, const struct frame_row *row)
{
    MT_ASSERT(row->module_next <= model->modules.count);
    MT_ASSERT(row->frame.kind < FRAME_KIND_COUNT);
    MT_ASSERT(row->frame.function < model->texts.count);
    MT_ASSERT(row->frame.file < model->texts.count);
    MT_ASSERT(row->frame.module < model->texts.count);
}

static void stacks_check(const struct model *model)
{
    size_t in_index = 0, own_sites = 0;

    for (uint32_t i = 1; i < model->sites.count; i++)
        site_check(model, table_at(&model->sites, i));
    for (uint32_t i = 1; i < model->frames.count; i++)
        frame_check(model, table_at(&model->frames, i));
    for (uint32_t i = 1; i < model->stacks.count; i++) {
        const struct stack_row *row = model_stack_row(model, i);

        MT_ASSERT(row->stack.frame < model->frames.count);
        MT_ASSERT(row->stack.outer < i); /* so every walk outwards ends */
        MT_ASSERT(row->site < model->sites.count);
        MT_ASSERT(row->stack.part <= STACK_OF_LOAD);
        MT_ASSERT(row->stack.part != STACK_OF_LOAD || /* is of somebody's */
                  model_stack_row(model, row->stack.outer)->stack.part != STACK_OF_OTHERS);
        in_index += row->stack.outer + 1 != i;
        own_sites += row->site != 0;
    }
    MT_ASSERT(model->stack_index.count == in_index);
    MT_ASSERT(model->site_index.count + own_sites + 1 >= model->sites.count);
}

static void module_check(const struct model *model, const struct model_module *module)
{
    MT_ASSERT(module->path < model->texts.count);
    MT_ASSERT(module->build_id_bytes <= sizeof(module->build_id));
}

static void process_check(const struct model *model, const struct model_process *process)
{
    MT_ASSERT(process->executable < model->texts.count);
    MT_ASSERT(process->command_line < model->texts.count);
    MT_ASSERT(process->options < model->texts.count);
    MT_ASSERT(process->source < model->texts.count);
    MT_ASSERT(process->allocator_settings < model->texts.count);
}

static void processes_check(const struct model *model)
{
    for (uint32_t i = 0; i < model->modules.count; i++)
        module_check(model, &((struct module_row *)table_at(&model->modules, i))->module);
    for (uint32_t i = 0; i < model->processes.count; i++)
        process_check(model, table_at(&model->processes, i));
    for (uint32_t i = 0; i < model->threads.count; i++)
        MT_ASSERT(((struct model_thread *)table_at(&model->threads, i))->name < model->texts.count);
    for (uint32_t i = 0; i < model->pools.count; i++) {
        const struct pool_row *pool = table_at(&model->pools, i);

        MT_ASSERT(pool->known);
        MT_ASSERT(pool->name_text < model->texts.count);
    }
    MT_ASSERT(model->reread_processes <= model->processes.count);
}

/* Where all rows were made: each has its place in its index. */
static void model_check(const struct model *model)
{
    MT_ASSERT(model->texts.count && !*model_text_at(model, 0));
    MT_ASSERT(model->text_index.count == model->texts.count);
    MT_ASSERT(model->pool_index.count == model->pools.count);
    MT_ASSERT(model->place_index.count == model->places.count);
    MT_ASSERT(model->thread_index.count == model->threads.count);
    MT_ASSERT(model->frame_index.count + 1 >= model->frames.count);
    MT_ASSERT(model->frame_rule || !model->frame_part_count);
    stacks_check(model);
    processes_check(model);
}

static bool is_small(const struct model *model)
{
    enum { checked_most = 4096 };

    return model->sites.count + model->stacks.count + model->texts.count <= checked_most;
}

enum mt_result model_status(const struct model *model, struct mt_error *error)
{
    if (MT_ASSERTS && !model->failure && is_small(model))
        model_check(model);
    if (model->failure)
        return mt_error_set(error, MT_NO_MEMORY, "no room for more %s", model->failure);
    return memory_status(model->memory_failures, error);
}
