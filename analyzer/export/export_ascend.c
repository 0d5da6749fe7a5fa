/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as the profiles of torch_npu and MindSpore: a folder for each process, which
 * MindStudio Insight and msprof-analyze open.
 *
 *   OUT/rank0_4711_20250109144402123_ascend_pt/profiler_info_0.json
 *                                              ASCEND_PROFILER_OUTPUT/operator_memory.csv ...
 *
 * Totals of a pool come from its own counters where the recording has them, as a profile does; else
 * from adding up. A counter is read at the very time of its block, so a row gets its totals when
 * the time has gone on. What no file of a profile has a place for is left out: other pools,
 * addresses, stacks.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ascend_counters.h"
#include "ascend_folders.h"
#include "ascend_plan_writer.h"
#include "ascend_roles.h"
#include "ascend_tables.h"
#include "export.h"
#include "labels.h"
#include "live_set.h"
#include "lives.h"
#include "open_operators.h"
#include "text_builder.h"

enum { components_most = 32, waiting_most = 64 };

static const uint64_t last_node = UINT32_MAX; /* a buffer that is kept to the end of its graph */

/* A component on a device. */
struct component {
    char name[COUNTER_NAME_MOST];
    int32_t device;
    uint32_t stream;   /* text */
    bool has_counters; /* the recording tells them */
    struct ascend_sums counted;
    uint64_t counted_ns; /* when */
    /* Added up: its blocks, and what older ones hold beside them. */
    uint64_t live_bytes, older_bytes, reserved_bytes;
    bool has_reserved, is_graph;
};

/* A row that waits for the counters of its time. */
struct waiting {
    bool is_release;
    struct ascend_block block; /* of a release: the id only */
    struct component *component;
};

struct ascend_export {
    const struct export_request *request;
    const struct question *question;
    enum mt_result result;
    struct mt_error *error;
    enum ascend_role *roles;        /* by ledger */
    struct counter_name **counters; /* by text; NULL: not seen yet */
    struct live_set live;     /* birth: low half of the block's number; size: 1 once returned */
    struct live_set given_up; /* freed, and a stream may still use them */
    /* Of the current process. */
    struct ascend_tables *tables;
    bool has_process, is_mindspore, has_sum_rows, blocks_are_rows;
    uint16_t process;
    uint64_t base_ns, time_ns;
    struct component components[components_most];
    size_t component_count;
    struct ascend_record record; /* being put together */
    struct component *record_of; /* NULL: none is */
    unsigned record_fields;      /* bits of enum counter_field */
    struct waiting waiting[waiting_most];
    size_t waiting_count;
    struct event newest_alloc;
    uint64_t open_step, open_step_ns;
    bool has_open_step;
    struct open_operators operators;
    bool is_plan; /* the process is one: it goes into the folder of its rank */
    struct plan plan;
    struct ascend_folders folders;
};

static void check(struct ascend_export *export, enum mt_result result)
{
    if (export->result == MT_OK)
        export->result = result;
}

/* --- what is what -------------------------------------------------------------------------- */

static const struct counter_name *counter_of(struct ascend_export *export, uint32_t text)
{
    if (!export->counters[text]) {
        export->counters[text] = calloc(1, sizeof(**export->counters));
        if (!export->counters[text]) {
            check(export, mt_error_set(export->error, MT_NO_MEMORY, "no memory for counters"));
            return NULL;
        }
        counter_name_read(export->counters[text], model_text_at(export->question->model, text));
    }
    return export->counters[text];
}

/* NULL when there are too many, which no profile has. */
static struct component *component_of(struct ascend_export *export, const char *name,
                                      int32_t device)
{
    struct component *component;

    for (size_t i = 0; i < export->component_count; i++)
        if (export->components[i].device == device && strcmp(export->components[i].name, name) == 0)
            return &export->components[i];
    if (export->component_count == components_most)
        return NULL;
    component = &export->components[export->component_count++];
    *component = (struct component){.device = device, .is_graph = strcmp(name, "GE") == 0};
    snprintf(component->name, sizeof(component->name), "%s", name);
    return component;
}

static struct component *component_of_ledger(struct ascend_export *export, uint16_t index)
{
    static const char *const names[] = {
        [ROLE_NONE] = "",    [ROLE_FRAMEWORK] = "PTA", [ROLE_WORKSPACE] = "WORKSPACE",
        [ROLE_GRAPH] = "GE", [ROLE_PLAN] = "",
    };
    enum ascend_role role = export->roles[index];
    const char *name = role == ROLE_FRAMEWORK && export->is_mindspore ? "MindSpore" : names[role];

    return role == ROLE_NONE || role == ROLE_PLAN
               ? NULL
               : component_of(export, name,
                              tally_ledger_at(export->question->tally, index)->device);
}

/* A block's row shows the counters of its very time. The graph engine counts now and then only. */
static struct ascend_sums sums_of(const struct component *component, uint64_t time_ns)
{
    uint64_t bytes = component->live_bytes + component->older_bytes;

    if (component->has_counters &&
        (component->counted_ns == time_ns || (component->is_graph && component->counted_ns)))
        return component->counted;
    return (struct ascend_sums){
        .allocated = {true, bytes},
        .reserved = {component->has_reserved, component->reserved_bytes},
        .active = {!component->is_graph, bytes},
    };
}

static struct ascend_sums newest_sums(const struct component *component)
{
    return sums_of(component, component->counted_ns);
}

static const char *text_at(const struct ascend_export *export, uint32_t text)
{
    return text ? model_text_at(export->question->model, text) : "";
}

/* --- records ------------------------------------------------------------------------------- */

static void put_record(struct ascend_export *export, const struct component *component,
                       const char *name, const struct ascend_sums *sums)
{
    const struct ascend_record record = {
        .component = name,
        .time_ns = export->base_ns + export->time_ns,
        .sums = *sums,
        .stream = text_at(export, component->stream),
        .device = component->device,
    };

    check(export, ascend_put_record(export->tables, &record, export->error));
}

static void add_cell(struct ascend_cell *sum, struct ascend_cell more)
{
    sum->is_known |= more.is_known;
    sum->number += more.number;
}

/* Readers draw the framework's pool and that of the graph engine as one. */
static void put_sum_record(struct ascend_export *export, const struct component *changed)
{
    const char *framework = pool_by_id(export->is_mindspore ? POOL_MINDSPORE : POOL_PTA)->title;
    const struct component *own, *graph;
    struct ascend_sums sums, more;
    char name[COUNTER_NAME_MOST];

    if (export->has_sum_rows || (!changed->is_graph && strcmp(changed->name, framework) != 0))
        return;
    own = component_of(export, framework, changed->device);
    graph = component_of(export, pool_by_id(POOL_GE)->title, changed->device);
    if (!own || !graph)
        return;
    sums = newest_sums(own);
    more = newest_sums(graph);
    add_cell(&sums.allocated, more.allocated);
    add_cell(&sums.reserved, more.reserved);
    snprintf(name, sizeof(name), "%s+GE", framework);
    put_record(export, own, name, &sums);
}

/* The counters of one row come as events of one time, one after the other. */
static void end_record(struct ascend_export *export)
{
    struct component *component = export->record_of;

    if (!component)
        return;
    export->record_of = NULL;
    component->counted = export->record.sums;
    component->counted_ns = export->record.time_ns;
    check(export, ascend_put_record(export->tables, &export->record, export->error));
    put_sum_record(export, component);
}

static struct ascend_cell *cell_of(struct ascend_record *record, enum counter_field field)
{
    switch (field) {
    case COUNTER_ALLOCATED:
        return &record->sums.allocated;
    case COUNTER_RESERVED:
        return &record->sums.reserved;
    case COUNTER_ACTIVE:
        return &record->sums.active;
    case COUNTER_DDR:
        return &record->ddr;
    default:
        return &record->hbm;
    }
}

static struct component *component_of_event(struct ascend_export *export, const struct event *event)
{
    uint16_t ledger;

    if (!tally_ledger_find(export->question->tally, event->process, event->pool, event->place,
                           &ledger))
        return NULL;
    return component_of_ledger(export, ledger);
}

static void on_older(struct ascend_export *export, const struct event *event)
{
    struct component *component = component_of_event(export, event);

    if (component)
        component->older_bytes = event->value;
}

static void on_sample(struct ascend_export *export, const struct event *event)
{
    const struct counter_name *counter = counter_of(export, event->text);
    int32_t device = model_place_at(export->question->model, event->place).device;
    struct component *component;

    if (event->flags & EVENT_IS_OLDER)
        on_older(export, event);
    if (!counter || counter->field == COUNTER_OTHER || event->flags & EVENT_IS_OLDER)
        return;
    if (counter->field == COUNTER_MODULE) {
        check(export,
              ascend_put_module(export->tables, counter->name, export->base_ns + event->time_ns,
                                event->value, device, export->error));
        return;
    }
    component = component_of(export, counter->name, device);
    if (!component)
        return;
    if (export->record_of != component || export->record_fields & 1u << counter->field) {
        end_record(export);
        export->record_of = component;
        export->record_fields = 0;
        component->stream = event->detail;
        export->record = (struct ascend_record){.component = component->name,
                                                .time_ns = export->base_ns + event->time_ns,
                                                .stream = text_at(export, event->detail),
                                                .device = device};
    }
    export->record_fields |= 1u << counter->field;
    *cell_of(&export->record, counter->field) = (struct ascend_cell){true, event->value};
}

/* Where the recording has no counters, a block that changes them makes a row. */
static void change_sums(struct ascend_export *export, struct component *component, int64_t bytes)
{
    struct ascend_sums sums;

    component->live_bytes += (uint64_t)bytes;
    if (component->has_counters)
        return;
    sums = newest_sums(component);
    put_record(export, component, component->name, &sums);
    put_sum_record(export, component);
}

/* The operator, as tools expect; else where it comes from. */
static const char *name_of(const struct ascend_export *export, const struct group_detail *detail)
{
    if (detail->operator_text)
        return text_at(export, detail->operator_text);
    if (detail->site)
        return symbols_label(export->question->symbols, detail->site);
    return text_at(export, detail->owner_text);
}

/* --- static graphs ------------------------------------------------------------------------- */

static void put_plan_row(struct ascend_export *export, const struct plan_row *row)
{
    if (!plan_add(&export->plan, row))
        check(export, mt_error_set(export->error, MT_NO_MEMORY, "no memory for static graphs"));
}

static bool put_buffer(struct ascend_export *export, const struct life *life)
{
    const struct question *question = export->question;
    const struct ledger *ledger = tally_ledger_at(question->tally, life->ledger);
    const struct plan_row row = {
        .row = life->address,
        .graph = ascend_graph_of(question, ledger),
        .name = name_of(export, tally_detail_at(question->tally, life->group)),
        .first_node = life->born_ns,
        .last_node = life->freed_event ? life->freed_ns : last_node,
        .size_bytes = life->size_bytes,
        .device = ledger->device,
    };

    put_plan_row(export, &row);
    return export->result == MT_OK;
}

/* "static graph 0 total" is what the whole of graph 0 takes. */
static void put_total(struct ascend_export *export, const struct event *event)
{
    const struct tally *tally = export->question->tally;
    const char *counter = model_text_at(export->question->model, event->text);

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);
        const char *pool = ascend_pool_of(export->question, ledger);
        size_t length = strlen(pool);

        if (ledger->process != event->process || export->roles[i] != ROLE_PLAN ||
            strncmp(counter, pool, length) != 0 || strcmp(counter + length, " total") != 0)
            continue;
        put_plan_row(export, &(struct plan_row){.row = UINT64_MAX,
                                                .graph = ascend_graph_of(export->question, ledger),
                                                .name = "TOTAL",
                                                .first_node = event->time_ns,
                                                .last_node = last_node,
                                                .size_bytes = event->value,
                                                .device = ledger->device});
        return;
    }
}

/* --- blocks -------------------------------------------------------------------------------- */

static void put_waiting(struct ascend_export *export, const struct waiting *row)
{
    struct ascend_block block = row->block;
    struct ascend_sums sums = sums_of(row->component, block.born_ns);

    if (row->is_release) {
        check(export,
              ascend_put_release(export->tables, block.id, block.born_ns, &sums, export->error));
        return;
    }
    block.born = sums;
    check(export, ascend_put_block(export->tables, &block, export->error));
}

/* All that has happened at this time is known. */
static void end_time(struct ascend_export *export)
{
    end_record(export);
    for (size_t i = 0; i < export->waiting_count; i++)
        put_waiting(export, &export->waiting[i]);
    export->waiting_count = 0;
}

static void wait_for_counters(struct ascend_export *export, const struct waiting *row)
{
    if (!row->component->has_counters) {
        put_waiting(export, row);
        return;
    }
    if (export->waiting_count == waiting_most)
        end_time(export);
    export->waiting[export->waiting_count++] = *row;
}

static bool on_born(void *context, const struct life *life)
{
    struct ascend_export *export = context;
    enum ascend_role role = export->roles[life->ledger];
    struct live_block block = {
        .address = life->address, .group = life->group, .birth = (uint32_t)life->index};
    struct waiting row;

    if (role == ROLE_NONE || role == ROLE_PLAN)
        return true;
    row = (struct waiting){
        .component = component_of_ledger(export, life->ledger),
        .block = {.id = life->index + 1,
                  .row = export->blocks_are_rows ? life->address : life->index,
                  .name = name_of(export, tally_detail_at(export->question->tally, life->group)),
                  .size_bytes = life->size_bytes,
                  .born_ns = export->base_ns + life->born_ns,
                  .is_graph = role == ROLE_GRAPH,
                  .stream = text_at(export, export->newest_alloc.detail),
                  .device = tally_ledger_at(export->question->tally, life->ledger)->device},
    };
    if (!row.component)
        return true;
    if (!live_set_put(&export->live, live_hash(life->address), &block))
        check(export, mt_error_set(export->error, MT_NO_MEMORY, "no memory for live blocks"));
    change_sums(export, row.component, (int64_t)life->size_bytes);
    wait_for_counters(export, &row);
    return export->result == MT_OK;
}

/* A block of this pool at the address; its bucket is NULL when there is none. */
static struct live_place find_block(const struct ascend_export *export, const struct live_set *set,
                                    uint64_t address, uint16_t pool)
{
    struct live_place place = live_set_find(set, live_hash(address), address);

    while (place.bucket &&
           tally_detail_at(export->question->tally, place.bucket->group[place.slot])->pool != pool)
        place = live_set_find_next(set, address, place);
    return place;
}

static void forget_block(struct ascend_export *export, const struct life *life)
{
    uint16_t pool = tally_detail_at(export->question->tally, life->group)->pool;
    struct live_place place = find_block(export, &export->live, life->address, pool);
    bool is_expected = tally_event_count(export->question->tally, EVENT_RETURNED) > 0 &&
                       export->roles[life->ledger] == ROLE_FRAMEWORK;
    struct live_block block;

    if (!place.bucket)
        return;
    block = live_set_take(&export->live, live_hash(life->address), place);
    if (is_expected && !block.size_bytes &&
        !live_set_put(&export->given_up, live_hash(life->address), &block))
        check(export, mt_error_set(export->error, MT_NO_MEMORY, "no memory for blocks"));
}

static bool on_over(void *context, const struct life *life)
{
    struct ascend_export *export = context;
    struct waiting row = {
        .is_release = true,
        .block = {.id = life->index + 1, .born_ns = export->base_ns + life->freed_ns}};

    if (export->is_plan)
        return put_buffer(export, life);
    forget_block(export, life);
    if (!life->freed_event || export->roles[life->ledger] == ROLE_NONE ||
        export->roles[life->ledger] == ROLE_WORKSPACE)
        return true; /* the workspace is never given back: its next use ends it for us only */
    row.component = component_of_ledger(export, life->ledger);
    if (!row.component)
        return true;
    change_sums(export, row.component, -(int64_t)life->size_bytes);
    wait_for_counters(export, &row);
    return export->result == MT_OK;
}

static bool is_waiting(const struct ascend_export *export, uint64_t id)
{
    for (size_t i = 0; i < export->waiting_count; i++)
        if (!export->waiting[i].is_release && export->waiting[i].block.id == id)
            return true;
    return false;
}

static void on_returned(struct ascend_export *export, const struct event *event)
{
    struct live_place place = find_block(export, &export->live, event->address, event->pool);
    uint64_t id;

    if (place.bucket) {
        place.bucket->size[place.slot] = 1;
        id = place.bucket->birth[place.slot] + UINT64_C(1);
    } else {
        place = find_block(export, &export->given_up, event->address, event->pool);
        if (!place.bucket)
            return;
        id = live_set_take(&export->given_up, live_hash(event->address), place).birth + UINT64_C(1);
    }
    if (is_waiting(export, id))
        end_time(export); /* its row must be there */
    check(export,
          ascend_put_return(export->tables, id, export->base_ns + event->time_ns, export->error));
}

/* --- processes ----------------------------------------------------------------------------- */

/* Which of its components the recording itself counts. */
static void find_counters(struct ascend_export *export)
{
    const struct tally *tally = export->question->tally;

    for (size_t i = 0; i < tally_sample_count(tally); i++) {
        const struct sample_row *row = tally_sample_at(tally, i);
        const struct counter_name *counter = counter_of(export, row->counter);
        int32_t device = model_place_at(export->question->model, row->place).device;
        struct component *component;

        if (row->process != export->process || !counter || counter->field != COUNTER_ALLOCATED)
            continue;
        component = component_of(export, counter->name, device);
        if (component)
            component->has_counters = true;
        export->has_sum_rows |= strchr(counter->name, '+') != NULL;
    }
}

static bool has_mindspore_pool(const struct ascend_export *export)
{
    const struct tally *tally = export->question->tally;

    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        if (tally_ledger_at(tally, i)->process == export->process &&
            model_pool_at(export->question->model, tally_ledger_at(tally, i)->pool)->id ==
                POOL_MINDSPORE)
            return true;
    return false;
}

static bool has_rows(const struct ascend_export *export)
{
    const struct tally *tally = export->question->tally;

    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        if (export->roles[i] != ROLE_NONE && tally_ledger_at(tally, i)->process == export->process)
            return true;
    return export->component_count > 0;
}

/* NULL: it could not be made. */
static const char *make_folder(struct ascend_export *export, const struct model_process *process)
{
    const struct ascend_folder_stamp stamp = {.first_ns = export->base_ns + process->start_ns,
                                              .process = export->process,
                                              .is_mindspore = export->is_mindspore};
    const char *folder = NULL;

    check(export, ascend_folders_make(&export->folders, process, &stamp, &folder, export->error));
    return folder;
}

static bool is_plan_process(const struct ascend_export *export)
{
    const struct tally *tally = export->question->tally;

    for (size_t i = 0; i < tally_ledger_count(tally); i++)
        if (export->roles[i] == ROLE_PLAN && tally_ledger_at(tally, i)->process == export->process)
            return true;
    return false;
}

/* Where a recording begins that does not tell the time of day. */
static const uint64_t first_ns = 1000000000;

static void process_begin(struct ascend_export *export, uint16_t index)
{
    const struct model_process *process = model_process_at(export->request->model, index);
    struct ascend_profile profile = {.name = export->request->name, .rank = process->rank};

    export->process = index;
    export->has_process = true;
    export->is_mindspore = has_mindspore_pool(export);
    export->blocks_are_rows = process->blocks_are_rows;
    export->base_ns = export_realtime_base(process);
    if (!export->base_ns)
        export->base_ns = first_ns; /* a release at 0 is none to readers */
    export->component_count = export->waiting_count = 0;
    export->record_of = NULL;
    export->has_open_step = export->has_sum_rows = false;
    export->is_plan = is_plan_process(export);
    find_counters(export);
    if (export->is_plan || !has_rows(export))
        return;
    profile.folder = make_folder(export, process);
    profile.process_id = process->process_id;
    profile.is_mindspore = export->is_mindspore;
    profile.first_ns = export->base_ns + process->start_ns;
    profile.last_ns = export->base_ns + process->end_ns;
    if (profile.folder)
        check(export, ascend_tables_create(&profile, &export->tables, export->error));
}

/* Into the folder of its rank, which was written before; alone, into one of its own. */
static void write_plan(struct ascend_export *export)
{
    const struct model_process *process = model_process_at(export->request->model, export->process);
    const char *folder = ascend_folders_find(&export->folders, process);
    struct text_builder path;

    if (!folder)
        folder = make_folder(export, process);
    if (!folder)
        return;
    text_init(&path);
    text_add_format(&path, "%s/ASCEND_PROFILER_OUTPUT", folder);
    mkdir(text_get(&path), 0777); /* where it is not there yet */
    text_add(&path, "/static_op_mem.csv");
    check(export, plan_write(&export->plan, text_get(&path), export->request->name, export->error));
    text_release(&path);
}

static void process_end(struct ascend_export *export)
{
    if (!export->has_process)
        return;
    if (export->result == MT_OK && export->tables)
        end_time(export);
    if (export->result == MT_OK && export->tables)
        check(export, ascend_tables_finish(export->tables, export->error));
    if (export->result == MT_OK && export->is_plan)
        write_plan(export);
    ascend_tables_destroy(export->tables);
    plan_release(&export->plan);
    open_operators_clear(&export->operators);
    export->tables = NULL;
    export->has_process = false;
    live_set_clear(&export->live);
    live_set_clear(&export->given_up);
}

/* --- events -------------------------------------------------------------------------------- */

static void step_end(struct ascend_export *export, uint64_t time_ns)
{
    if (export->has_open_step)
        check(export, ascend_put_step(export->tables, export->open_step,
                                      export->base_ns + export->open_step_ns,
                                      export->base_ns + time_ns, export->error));
    export->has_open_step = false;
}

static void on_reserved(struct ascend_export *export, const struct event *event)
{
    struct component *component = component_of_event(export, event);

    if (!component)
        return;
    component->has_reserved = true;
    component->reserved_bytes = event->value;
}

static void on_operator(struct ascend_export *export, const struct event *event)
{
    const struct model *model = export->question->model;
    struct open_operator ended;

    if (event->kind == EVENT_OPERATOR_BEGIN) {
        if (!open_operators_begin(&export->operators, event))
            check(export, mt_error_set(export->error, MT_NO_MEMORY, "no memory for operators"));
        return;
    }
    if (!open_operators_end(&export->operators, event->thread, &ended) ||
        strncmp(text_at(export, ended.text), "cann::", 6) == 0)
        return; /* those of the graph engine are none of the framework */
    check(export,
          ascend_put_operator(export->tables, text_at(export, ended.text),
                              export->base_ns + ended.begin_ns, export->base_ns + event->time_ns,
                              model_thread_at(model, event->thread)->thread_id, export->error));
}

static bool on_event(void *context, const struct event *event)
{
    struct ascend_export *export = context;

    if (!export->has_process || export->process != event->process) {
        process_end(export);
        process_begin(export, event->process);
    }
    if (export->is_plan && event->kind == EVENT_SAMPLE)
        put_total(export, event);
    if (export->result != MT_OK || !export->tables)
        return export->result == MT_OK;
    if (event->time_ns != export->time_ns)
        end_time(export);
    export->time_ns = event->time_ns;
    switch (event->kind) {
    case EVENT_ALLOC:
        export->newest_alloc = *event;
        break;
    case EVENT_RETURNED:
        on_returned(export, event);
        break;
    case EVENT_SAMPLE:
        on_sample(export, event);
        break;
    case EVENT_RESERVED:
        on_reserved(export, event);
        break;
    case EVENT_OPERATOR_BEGIN:
    case EVENT_OPERATOR_END:
        on_operator(export, event);
        break;
    case EVENT_STEP_BEGIN:
        step_end(export, event->time_ns);
        export->has_open_step = true;
        export->open_step = event->value;
        export->open_step_ns = event->time_ns;
        break;
    case EVENT_STEP_END:
        if (event->value == export->open_step)
            step_end(export, event->time_ns);
        break;
    default:
        break;
    }
    return export->result == MT_OK;
}

enum mt_result export_ascend(const struct export_request *request, struct mt_error *error)
{
    struct ascend_export export = {.request = request,
                                   .question = request->question,
                                   .error = error,
                                   .folders = {.path = request->path, .name = request->name}};
    const struct life_visitor visitor = {
        .context = &export,
        .born = on_born,
        .over = on_over,
        .event = on_event,
    };
    struct mt_error trouble = {.message = ""};
    enum mt_result result;

    export.roles = ascend_roles_create(request->question);
    export.counters =
        calloc(model_text_count(request->question->model) + 1, sizeof(*export.counters));
    if (!export.roles || !export.counters || !live_set_init(&export.live) ||
        !live_set_init(&export.given_up))
        export.result = mt_error_set(error, MT_NO_MEMORY, "no memory to write %s", request->name);
    if (export.result == MT_OK) {
        result = lives_read(request->question->events, request->model, &visitor, &trouble);
        if (export.result == MT_OK && result != MT_OK)
            export.result = mt_error_set(error, result, "%s", trouble.message);
        process_end(&export);
    }
    for (size_t i = 0; export.counters && i < model_text_count(request->question->model); i++)
        free(export.counters[i]);
    free(export.counters);
    free(export.roles);
    ascend_folders_release(&export.folders);
    open_operators_release(&export.operators);
    live_set_release(&export.live);
    live_set_release(&export.given_up);
    return export.result;
}
