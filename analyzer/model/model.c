/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a recording: their beginning and end, and those that stand alone. Sites, modules,
 * notes and assertions have files of their own.
 */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "memory_failures.h"
#include "model_state.h"

static void tables_init(struct model *model)
{
    arena_init(&model->arena);
    table_init(&model->texts, &model->arena, sizeof(struct text_row));
    table_init(&model->pools, &model->arena, sizeof(struct pool_row));
    table_init(&model->places, &model->arena, sizeof(uint64_t));
    table_init(&model->sites, &model->arena, sizeof(struct site_row));
    table_init(&model->frames, &model->arena, sizeof(struct frame_row));
    table_init(&model->stacks, &model->arena, sizeof(struct stack_row));
    table_init(&model->kept_sites, &model->arena, sizeof(struct kept_row));
    table_init(&model->threads, &model->arena, sizeof(struct model_thread));
    table_init(&model->processes, &model->arena, sizeof(struct model_process));
    table_init(&model->modules, &model->arena, sizeof(struct module_row));
    table_init(&model->worked_devices, &model->arena, sizeof(struct model_worked_device));
    table_init(&model->processes_again, &model->arena, sizeof(struct model_process));
    notes_init(&model->notes);
    module_map_init(&model->module_map);
}

enum mt_result model_create(struct model **out, struct mt_error *error)
{
    size_t memory_failures = memory_failure_count();
    struct model *model = calloc(1, sizeof(*model));

    if (!model)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a model");
    model->memory_failures = memory_failures;
    tables_init(model);
    model_text(model, "", 0);
    if (!stretch_init(&model->site_sets, SITE_SETS * sizeof(struct site_set)) ||
        !stretch_extend(&model->site_sets, SITE_SETS * sizeof(struct site_set)) ||
        !table_add(&model->sites) || !table_add(&model->frames) || !table_add(&model->stacks) ||
        model->failure) {
        model_destroy(model);
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a model");
    }
    *out = model;
    return MT_OK;
}

void model_destroy(struct model *model)
{
    if (!model)
        return;
    hash_index_release(&model->text_index);
    hash_index_release(&model->pool_index);
    hash_index_release(&model->place_index);
    hash_index_release(&model->site_index);
    hash_index_release(&model->frame_index);
    hash_index_release(&model->stack_index);
    hash_index_release(&model->kept_index);
    hash_index_release(&model->thread_index);
    hash_index_release(&model->module_index);
    module_map_release(&model->module_map);
    notes_release(&model->notes);
    stretch_release(&model->site_sets);
    arena_release(&model->arena);
    free(model->frame_parts);
    free(model);
}

void model_rewind(struct model *model)
{
    model->is_reread = true;
    model->reread_processes = 0;
    module_map_release(&model->module_map);
    stretch_clear(&model->site_sets);
}

uint32_t model_fail(struct model *model, const char *what)
{
    if (!model->failure)
        model->failure = what;
    return 0;
}

void *model_row_add(struct model *model, struct table *table, struct hash_index *index,
                    uint64_t hash, size_t limit, const char *what)
{
    void *row =
        model->failure || table->count >= limit ? NULL : hash_index_add_row(index, hash, table);

    if (!row)
        model_fail(model, what);
    return row;
}

/* --- texts, pools, places, threads ---------------------------------------------------------- */

uint32_t model_text(struct model *model, const char *bytes, size_t size_bytes)
{
    uint64_t hash = hash_bytes(bytes, size_bytes);
    size_t probe = 0;
    uint32_t found;
    struct text_row *row;
    char *copy;

    while (hash_index_next(&model->text_index, hash, &probe, &found)) {
        row = table_at(&model->texts, found);
        if (row->size_bytes == size_bytes && memcmp(row->bytes, bytes, size_bytes) == 0)
            return found;
    }
    copy = arena_text(&model->arena, bytes, size_bytes);
    if (!copy)
        return model_fail(model, "texts");
    row = model_row_add(model, &model->texts, &model->text_index, hash, UINT32_MAX, "texts");
    if (!row)
        return 0;
    row->bytes = copy;
    row->size_bytes = size_bytes;
    return (uint32_t)(model->texts.count - 1);
}

static uint16_t pool_row(struct model *model, uint32_t name_text, const struct pool *known)
{
    uint64_t hash = hash_u64(name_text);
    size_t probe = 0;
    uint32_t found;
    struct pool_row *row;

    while (hash_index_next(&model->pool_index, hash, &probe, &found)) {
        row = table_at(&model->pools, found);
        if (row->name_text == name_text && row->known == known)
            return (uint16_t)found;
    }
    row = model_row_add(model, &model->pools, &model->pool_index, hash, UINT16_MAX, "65535 pools");
    if (!row)
        return 0;
    *row = (struct pool_row){name_text, known};
    return (uint16_t)(model->pools.count - 1);
}

uint16_t model_pool(struct model *model, uint32_t name_text)
{
    return pool_row(model, name_text, pool_by_name(model_text_at(model, name_text)));
}

uint16_t model_known_pool(struct model *model, enum pool_id id)
{
    const struct pool *pool = pool_by_id(id);

    return pool_row(model, model_text(model, pool->name, strlen(pool->name)), pool);
}

uint16_t model_place(struct model *model, struct mt_place place)
{
    uint64_t packed = mt_place_pack(place);
    uint64_t hash = hash_u64(packed);
    size_t probe = 0;
    uint32_t found;
    uint64_t *row;

    while (hash_index_next(&model->place_index, hash, &probe, &found))
        if (*(uint64_t *)table_at(&model->places, found) == packed)
            return (uint16_t)found;
    row =
        model_row_add(model, &model->places, &model->place_index, hash, UINT16_MAX, "65535 places");
    if (!row)
        return 0;
    *row = packed;
    return (uint16_t)(model->places.count - 1);
}

uint32_t model_thread(struct model *model, struct model_thread thread)
{
    uint64_t hash = hash_pair(thread.thread_id, thread.process);
    size_t probe = 0;
    uint32_t found;
    struct model_thread *row;

    while (hash_index_next(&model->thread_index, hash, &probe, &found)) {
        row = table_at(&model->threads, found);
        if (row->thread_id != thread.thread_id || row->process != thread.process)
            continue;
        if (thread.name && thread.name != row->name)
            row->name = thread.name;
        return found;
    }
    row = model_row_add(model, &model->threads, &model->thread_index, hash, UINT32_MAX, "threads");
    if (!row)
        return 0;
    *row = thread;
    return (uint32_t)(model->threads.count - 1);
}

size_t model_text_count(const struct model *model)
{
    return table_count(&model->texts);
}

const char *model_text_at(const struct model *model, uint32_t index)
{
    return ((const struct text_row *)table_at(&model->texts, index))->bytes;
}

size_t model_pool_count(const struct model *model)
{
    return table_count(&model->pools);
}

uint32_t model_pool_name_at(const struct model *model, uint16_t index)
{
    return index < model_pool_count(model)
               ? ((const struct pool_row *)table_at(&model->pools, index))->name_text
               : 0;
}

const struct pool *model_pool_at(const struct model *model, uint16_t index)
{
    return index < model_pool_count(model)
               ? ((const struct pool_row *)table_at(&model->pools, index))->known
               : pool_by_id(POOL_OTHER);
}

size_t model_place_count(const struct model *model)
{
    return table_count(&model->places);
}

struct mt_place model_place_at(const struct model *model, uint16_t index)
{
    return mt_place_unpack(
        index < model_place_count(model) ? *(const uint64_t *)table_at(&model->places, index) : 0);
}

size_t model_thread_count(const struct model *model)
{
    return table_count(&model->threads);
}

const struct model_thread *model_thread_at(const struct model *model, uint32_t index)
{
    return table_at(&model->threads, index);
}

/* --- processes ------------------------------------------------------------------------------ */

/* The row of the first reading stays as it is: it may be looked at meanwhile. */
static uint16_t process_again(struct model *model, const struct model_process *process)
{
    size_t index = model->reread_processes++;

    while (model->processes_again.count <= index)
        if (!table_add(&model->processes_again))
            return (uint16_t)model_fail(model, "processes");
    *(struct model_process *)table_at(&model->processes_again, index) = *process;
    return (uint16_t)index;
}

uint16_t model_process(struct model *model, const struct model_process *process)
{
    struct model_process *row = NULL;

    if (model->is_reread && model->reread_processes < model->processes.count)
        return process_again(model, process);
    if (model->processes.count < UINT16_MAX)
        row = table_add(&model->processes);
    if (!row)
        return (uint16_t)model_fail(model, "65535 processes");
    *row = *process;
    row->input = model->input;
    return (uint16_t)(model->processes.count - 1);
}

void model_begin_input(struct model *model, uint32_t number)
{
    model->input = number;
}

size_t model_process_count(const struct model *model)
{
    return table_count(&model->processes);
}

struct model_process *model_process_at(struct model *model, uint16_t index)
{
    return table_at(&model->processes, index);
}

struct model_process *model_process_fill(struct model *model, uint16_t index)
{
    if (index >= table_count(&model->processes)) /* there was no memory for the first */
        return &model->no_process;
    if (model->is_reread && index < model->processes_again.count)
        return table_at(&model->processes_again, index);
    return table_at(&model->processes, index);
}

void model_process_exited(struct model *model, uint16_t index, uint8_t status)
{
    struct model_process *process = model_process_fill(model, index);

    process->has_exited = true;
    process->exit_status = status;
}

void model_process_ended_at_once(struct model *model, uint16_t index, uint8_t status)
{
    struct model_process *process = model_process_fill(model, index);

    process->ended_at_once = true;
    process->exit_status = status;
}

bool model_times_are_events(struct model *model)
{
    size_t count = model_process_count(model);

    for (size_t i = 0; i < count; i++)
        if (!model_process_at(model, (uint16_t)i)->times_are_events)
            return false;
    return count > 0;
}

void model_set_helper(struct model *model, uint16_t index)
{
    struct model_process *process = model_process_at(model, index);

    model->helper_count += !process->is_helper;
    process->is_helper = true;
}

size_t model_helper_count(const struct model *model)
{
    return model->helper_count;
}

/* --- what readers shall leave out ----------------------------------------------------------- */

void model_want_no_sites(struct model *model)
{
    model->wants_no_sites = true;
}

bool model_wants_sites(const struct model *model)
{
    return !model->wants_no_sites;
}

void model_set_frame_rule(struct model *model, frame_rule rule, void *context)
{
    model->frame_rule = rule;
    model->frame_rule_context = context;
}

void model_want_loads(struct model *model, enum loads_wanted wanted)
{
    model->loads_wanted = wanted;
}

void model_want_partial(struct model *model)
{
    model->wants_partial = true;
}

bool model_wants_partial(const struct model *model)
{
    return model->wants_partial;
}

void model_set_operators(struct model *model, enum operator_view view)
{
    model->operators = view;
}

enum operator_view model_operators(const struct model *model)
{
    return model->operators;
}

void model_want_process(struct model *model, uint16_t process)
{
    model->wants_one_process = true;
    model->wanted_process = process;
}

bool model_wants_process(const struct model *model, uint16_t process)
{
    return !model->wants_one_process || model->wanted_process == process;
}
