/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the tables of a recording, with their insides.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "death.h"
#include "model_check.c"

static struct model *model;

static uint32_t text(const char *bytes)
{
    return model_text(model, bytes, strlen(bytes));
}

/* A row of each kind. */
static void make(void)
{
    uint32_t frame, stack;

    if (model_create(&model, NULL) != MT_OK)
        _exit(1);
    model_pool(model, text("pta"));
    model_place(model, (struct mt_place){.device = 0});
    model_process(model, &(struct model_process){.rank = -1, .executable = text("train")});
    model_module(model, &(struct model_module){.base = 0x1000,
                                               .size_bytes = 0x1000,
                                               .path = text("libtrain.so"),
                                               .unloaded_ns = UINT64_MAX});
    model_thread(model, (struct model_thread){.thread_id = 1});
    frame = model_frame(model, (struct model_frame){.function = text("forward")});
    stack = model_stack(model, 0, frame);
    stack = model_stack(model, stack, frame);
    model_site(model, (struct model_site){.stack = stack});
    model_site(model, (struct model_site){.address = 0x1010});
    if (model->failure)
        _exit(1);
    model_check(model);
}

static struct site_row *site(void)
{
    return table_at(&model->sites, 1);
}

static struct frame_row *frame(void)
{
    return table_at(&model->frames, 1);
}

static struct model_stack *stack(void)
{
    return table_at(&model->stacks, 1);
}

static struct model_module *module(void)
{
    return &((struct module_row *)table_at(&model->modules, 0))->module;
}

static struct model_process *process(void)
{
    return table_at(&model->processes, 0);
}

static struct pool_row *pool(void)
{
    return table_at(&model->pools, 0);
}

enum { NONE = 1000 };

#define LOOK(name, ...) DAMAGE(make, name, __VA_ARGS__; model_check(model))

LOOK(site_module, site()->module_next = NONE)
LOOK(site_label, site()->site.label = NONE)
LOOK(site_stack, site()->site.stack = NONE)
LOOK(site_of_nothing, site()->site.stack = 0)
LOOK(frame_module_row, frame()->module_next = NONE)
LOOK(frame_kind, frame()->frame.kind = FRAME_KIND_COUNT)
LOOK(frame_function, frame()->frame.function = NONE)
LOOK(frame_file, frame()->frame.file = NONE)
LOOK(frame_module, frame()->frame.module = NONE)
LOOK(stack_frame, stack()->frame = NONE)
LOOK(stack_outer, stack()->outer = 2)
LOOK(stack_site, ((struct stack_row *)table_at(&model->stacks, 1))->site = NONE)
LOOK(stack_part, stack()->part = STACK_OF_LOAD + 1)
LOOK(load_of_nobody, stack()->part = STACK_OF_LOAD)
LOOK(frame_parts, model->frame_part_count = 1)
LOOK(module_path, module()->path = NONE)
LOOK(module_build_id, module()->build_id_bytes = 65)
LOOK(process_executable, process()->executable = NONE)
LOOK(process_command_line, process()->command_line = NONE)
LOOK(process_options, process()->options = NONE)
LOOK(process_source, process()->source = NONE)
LOOK(process_settings, process()->allocator_settings = NONE)
LOOK(thread_name, ((struct model_thread *)table_at(&model->threads, 0))->name = NONE)
LOOK(pool_unknown, pool()->known = NULL)
LOOK(pool_name, pool()->name_text = NONE)
LOOK(reread, model->reread_processes = NONE)
LOOK(first_text, ((struct text_row *)table_at(&model->texts, 0))->bytes = "x")
LOOK(text_index, model->text_index.count--)
LOOK(pool_index, model->pool_index.count--)
LOOK(place_index, model->place_index.count--)
LOOK(thread_index, model->thread_index.count--)
LOOK(stack_index, model->stack_index.count--)
LOOK(site_index, model->site_index.count = 0)
LOOK(frame_index, model->frame_index.count = 0)

int main(void)
{
    return deaths_run();
}
