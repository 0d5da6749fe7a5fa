/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide's own database: the model and every block, event by event, for SQL.
 *
 * What is known after the first reading goes into small tables; blocks, samples and other events
 * come with the second. Events are numbered from 1 in the order of reading, which is the order of
 * causes; times can be equal.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "database_writer.h"
#include "driver_modules.h"
#include "export.h"
#include "hash.h"
#include "hash_index.h"
#include "labels.h"
#include "ledger_layers.h"
#include "lives.h"
#include "memory_accounts.h"
#include "sqlite_schema.h"
#include "table.h"

struct step_numbers {
    int64_t begin_event, end_event; /* 0: it did not end */
};

struct sqlite_export {
    const struct export_request *request;
    const struct question *question;
    struct database_writer *writer;
    struct database_insert *inserts[TABLE_COUNT];
    enum mt_result result; /* after a failure nothing more is written */
    struct mt_error *error;
    /* Frames that were written, by number - 1. Texts are of the symbols. */
    struct arena arena;
    struct table frames;
    struct hash_index frame_index, origin_index;
    /* Where the second reading is. */
    int64_t event;
    size_t begun_steps; /* of all processes */
    bool has_open_step; /* the newest of them */
    struct step_numbers *steps;
    enum step_phase phase; /* of the step phase_step, since phase_event */
    size_t phase_step;
    uint64_t phase_event;
};

static void put_row(struct sqlite_export *export, enum sqlite_table table)
{
    if (export->result == MT_OK)
        export->result = database_insert_row(export->inserts[table], export->error);
}

static const char *text_at(const struct sqlite_export *export, uint32_t text)
{
    return model_text_at(export->question->model, text);
}

static void insert_text_or_null(struct database_insert *insert, const char *text)
{
    if (*text)
        insert_text(insert, text);
    else
        insert_null(insert);
}

static void insert_number_if(struct database_insert *insert, bool is_known, uint64_t number)
{
    if (is_known)
        insert_number(insert, (int64_t)number);
    else
        insert_null(insert);
}

/* --- tables of the first reading ----------------------------------------------------------- */

static void put_about(struct sqlite_export *export, const char *key, const char *value)
{
    insert_text(export->inserts[TABLE_ABOUT], key);
    insert_text(export->inserts[TABLE_ABOUT], value);
    put_row(export, TABLE_ABOUT);
}

static void put_processes(struct sqlite_export *export)
{
    struct database_insert *insert = export->inserts[TABLE_PROCESSES];

    for (size_t i = 0; i < model_process_count(export->question->model); i++) {
        const struct model_process *process = model_process_at(export->request->model, (uint16_t)i);
        uint64_t lost_count = 0;

        for (size_t kind = 0; kind < MT_LOST_KINDS; kind++)
            lost_count += process->lost_counts[kind];
        insert_number(insert, (int64_t)i);
        insert_number(insert, (int64_t)process->process_id);
        insert_number(insert, (int64_t)process->parent_process_id);
        insert_number_if(insert, process->rank >= 0, (uint64_t)process->rank);
        insert_text(insert, text_at(export, process->executable));
        insert_text(insert, text_at(export, process->command_line));
        insert_text(insert, text_at(export, process->options));
        insert_text(insert, text_at(export, process->source));
        insert_number(insert, (int64_t)process->start_realtime_ns);
        insert_number(insert, (int64_t)process->start_ns);
        insert_number(insert, (int64_t)process->end_ns);
        insert_number(insert, (int64_t)process->event_count);
        insert_number(insert, (int64_t)lost_count);
        insert_number(insert, process->is_complete);
        put_row(export, TABLE_PROCESSES);
    }
}

static void put_threads(struct sqlite_export *export)
{
    struct database_insert *insert = export->inserts[TABLE_THREADS];

    for (size_t i = 0; i < model_thread_count(export->question->model); i++) {
        const struct model_thread *thread = model_thread_at(export->question->model, (uint32_t)i);

        insert_number(insert, (int64_t)i);
        insert_number(insert, thread->process);
        insert_number(insert, (int64_t)thread->thread_id);
        insert_text_or_null(insert, text_at(export, thread->name));
        put_row(export, TABLE_THREADS);
    }
}

static void put_ledgers(struct sqlite_export *export)
{
    static const char *const kinds[LEDGER_KIND_COUNT] = {
        [LEDGER_MEMORY] = "memory",     [LEDGER_HOST] = "host",
        [LEDGER_VIRTUAL] = "virtual",   [LEDGER_MAPPING] = "mapping",
        [LEDGER_IMPORTED] = "imported", [LEDGER_REGISTERED] = "registered",
        [LEDGER_VIEW] = "view",
    };
    const struct question *question = export->question;
    struct database_insert *insert = export->inserts[TABLE_LEDGERS];

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);

        insert_number(insert, (int64_t)i);
        insert_text(insert, label_ledger(question, export->request->labels, (uint16_t)i));
        insert_number(insert, ledger->process);
        insert_text(insert, text_at(export, model_pool_name_at(question->model, ledger->pool)));
        insert_number_if(insert, ledger->device >= 0, (uint64_t)ledger->device);
        insert_text(insert, kinds[ledger->kind]);
        insert_number_if(insert, ledger->has_older_beside, ledger->older_beside_bytes);
        put_row(export, TABLE_LEDGERS);
    }
}

static bool is_same_frame(const struct symbol_frame *a, const struct symbol_frame *b)
{
    return a->line == b->line && a->is_inlined == b->is_inlined &&
           a->is_plumbing == b->is_plumbing && strcmp(a->function, b->function) == 0 &&
           strcmp(a->file, b->file) == 0 && strcmp(a->module, b->module) == 0;
}

static void put_frame(struct sqlite_export *export, int64_t number,
                      const struct symbol_frame *frame)
{
    struct database_insert *insert = export->inserts[TABLE_FRAMES];

    insert_number(insert, number);
    insert_text(insert, frame->function);
    insert_text_or_null(insert, frame->file);
    insert_number_if(insert, frame->line != 0, frame->line);
    insert_text_or_null(insert, frame->module);
    insert_number(insert, frame->is_inlined);
    insert_number(insert, frame->is_plumbing);
    put_row(export, TABLE_FRAMES);
}

/* The number of an equal frame, written when it is new. */
static int64_t frame_number(struct sqlite_export *export, const struct symbol_frame *frame)
{
    uint64_t hash = hash_pair(hash_bytes(frame->function, strlen(frame->function)),
                              hash_bytes(frame->file, strlen(frame->file)) + frame->line);
    struct symbol_frame *row;
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&export->frame_index, hash, &probe, &found))
        if (is_same_frame(table_at(&export->frames, found), frame))
            return found + 1;
    row = hash_index_add_row(&export->frame_index, hash, &export->frames);
    found = (uint32_t) export->frames.count;
    if (!row) {
        export->result = mt_error_set(export->error, MT_NO_MEMORY, "no memory for frames");
        return 0;
    }
    *row = *frame;
    put_frame(export, found, frame);
    return found;
}

static void put_site_frames(struct sqlite_export *export, uint32_t site)
{
    struct database_insert *insert = export->inserts[TABLE_SITE_FRAMES];
    const struct symbol_frame *frames;
    size_t count;

    frames = symbols_frames(export->question->symbols, site, &count);
    for (size_t depth = 0; depth < count && export->result == MT_OK; depth++) {
        int64_t number = frame_number(export, &frames[depth]);

        insert_number(insert, site);
        insert_number(insert, (int64_t)depth);
        insert_number(insert, number);
        put_row(export, TABLE_SITE_FRAMES);
    }
}

/* The first site that is the same to people. */
static int64_t origin_of(struct sqlite_export *export, uint32_t site)
{
    struct symbols *symbols = export->question->symbols;
    uint64_t key = symbols_site_key(symbols, site), hash = hash_u64(key);
    size_t probe = 0;
    uint32_t found;

    while (hash_index_next(&export->origin_index, hash, &probe, &found))
        if (symbols_site_key(symbols, found) == key)
            return found;
    if (!hash_index_add(&export->origin_index, hash, site))
        export->result = mt_error_set(export->error, MT_NO_MEMORY, "no memory for sites");
    return site;
}

static void put_sites(struct sqlite_export *export)
{
    const struct question *question = export->question;
    struct database_insert *insert = export->inserts[TABLE_SITES];

    for (uint32_t i = 1; i < model_site_count(question->model); i++) {
        const struct model_site *site = model_site_at(question->model, i);
        char stable_id[20];

        snprintf(stable_id, sizeof(stable_id), "%016" PRIx64,
                 symbols_site_id(question->symbols, i));
        insert_number(insert, i);
        insert_number(insert, site->process);
        insert_text(insert, symbols_label(question->symbols, i));
        insert_text(insert, stable_id);
        insert_number_if(insert, site->address != 0, site->address);
        insert_number(insert, origin_of(export, i));
        put_row(export, TABLE_SITES);
        put_site_frames(export, i);
    }
}

/* Texts that are the operator, or the owner, of some block. */
static void put_names(struct sqlite_export *export, enum sqlite_table table)
{
    const struct tally *tally = export->question->tally;
    bool *is_written = calloc(model_text_count(export->question->model), sizeof(*is_written));

    if (!is_written) {
        export->result = mt_error_set(export->error, MT_NO_MEMORY, "no memory for names");
        return;
    }
    for (size_t i = 1; i < tally_group_count(tally); i++) {
        const struct group_detail *detail = tally_detail_at(tally, i);
        uint32_t text = table == TABLE_OPERATORS ? detail->operator_text : detail->owner_text;

        if (!text || is_written[text])
            continue;
        is_written[text] = true;
        insert_number(export->inserts[table], text);
        insert_text(export->inserts[table], text_at(export, text));
        put_row(export, table);
    }
    free(is_written);
}

static int32_t module_of(const struct question *question, size_t group)
{
    uint16_t place = tally_detail_at(question->tally, group)->place;

    return model_place_at(question->model, place).module;
}

static void put_driver_modules(struct sqlite_export *export)
{
    struct database_insert *insert = export->inserts[TABLE_DRIVER_MODULES];
    const struct question *question = export->question;
    bool *is_written = calloc(UINT16_MAX + 1, sizeof(*is_written));

    if (!is_written) {
        export->result = mt_error_set(export->error, MT_NO_MEMORY, "no memory for names");
        return;
    }
    for (size_t i = 1; i < tally_group_count(question->tally); i++) {
        int32_t module = module_of(question, i);
        const char *name;

        if (module < 0 || is_written[module & UINT16_MAX])
            continue;
        is_written[module & UINT16_MAX] = true;
        name = driver_module_name((uint32_t)module);
        insert_number(insert, module);
        insert_text_or_null(insert, name ? name : "");
        put_row(export, TABLE_DRIVER_MODULES);
    }
    free(is_written);
}

static void put_event_kinds(struct sqlite_export *export)
{
    struct database_insert *insert = export->inserts[TABLE_EVENT_KINDS];

    for (uint8_t kind = 0; kind < EVENT_KIND_COUNT; kind++) {
        insert_text(insert, event_kind_name(kind));
        insert_number(insert, (int64_t)tally_event_count(export->question->tally, kind));
        put_row(export, TABLE_EVENT_KINDS);
    }
}

/* What is known by pool only goes to the pool's first ledger, as in reports. */
static void insert_baseline_ledger(struct database_insert *insert, const struct tally *tally,
                                   const struct baseline *row)
{
    size_t first = 0, count = tally_ledger_count(tally);

    while (first < count && (tally_ledger_at(tally, first)->process != row->process ||
                             tally_ledger_at(tally, first)->pool != row->pool))
        first++;
    insert_number_if(insert, row->has_ledger || first < count,
                     row->has_ledger ? row->ledger : first);
}

static void put_older_frees(struct sqlite_export *export)
{
    const struct question *question = export->question;
    struct database_insert *insert = export->inserts[TABLE_OLDER_FREES];

    for (size_t i = 0; i < tally_baseline_count(question->tally); i++) {
        const struct baseline *row = tally_baseline_at(question->tally, i);

        if (!row->count)
            continue;
        insert_baseline_ledger(insert, question->tally, row);
        insert_number(insert, (int64_t)row->count);
        insert_number_if(insert, row->bytes != 0, row->bytes);
        put_row(export, TABLE_OLDER_FREES);
    }
}

static void put_account(struct sqlite_export *export, const struct memory_account *account,
                        size_t number)
{
    struct database_insert *insert = export->inserts[TABLE_ACCOUNTS];
    uint64_t step = account->figures[ACCOUNT_FIGURE_STEP];

    for (size_t i = 0; i < account->row_count; i++) {
        const struct memory_row *row = &account->rows[i];

        insert_number(insert, (int64_t)number);
        insert_number(insert, account->process);
        insert_number(insert, (int64_t)account->time_ns);
        insert_number(insert, memory_account_is_rough(account));
        insert_text(insert, account_part_name(row->part));
        insert_text_or_null(insert, text_at(export, row->name));
        insert_number(insert, (int64_t)row->resident_bytes);
        insert_number(insert, (int64_t)row->proportional_bytes);
        insert_number_if(insert, step != 0, step);
        insert_number_if(insert, step != 0, account->figures[ACCOUNT_FIGURE_LATE_NS]);
        insert_number(insert, account->figures[ACCOUNT_FIGURE_AT_EXIT] != 0);
        put_row(export, TABLE_ACCOUNTS);
    }
}

/* A row for each row of each account. */
static void put_accounts(struct sqlite_export *export)
{
    const struct memory_accounts *accounts = tally_accounts(export->question->tally);

    for (size_t i = 0; i < accounts->count; i++)
        put_account(export, &accounts->rows[i], i + 1);
    for (size_t i = 0; i < accounts->end_count; i++)
        put_account(export, &accounts->ends[i], accounts->count + i + 1);
}

static void put_notes(struct sqlite_export *export)
{
    for (size_t i = 0; i < model_note_count(export->question->model); i++) {
        uint64_t count;
        const char *sentence = model_note_at(export->question->model, i, &count);

        insert_number(export->inserts[TABLE_NOTES], (int64_t)count);
        insert_text(export->inserts[TABLE_NOTES], sentence);
        put_row(export, TABLE_NOTES);
    }
}

/* --- the second reading -------------------------------------------------------------------- */

static bool on_life(void *context, const struct life *life)
{
    struct sqlite_export *export = context;
    const struct group_detail *detail = tally_detail_at(export->question->tally, life->group);
    struct database_insert *insert = export->inserts[TABLE_BLOCKS];
    int32_t module = module_of(export->question, life->group);
    bool is_freed = life->freed_event != 0;

    insert_number(insert, (int64_t)life->index + 1);
    insert_number(insert, detail->process);
    insert_number(insert, life->ledger);
    insert_number(insert, (int64_t)life->address);
    insert_number(insert, (int64_t)life->size_bytes);
    insert_number(insert, (int64_t)life->born_ns);
    insert_number_if(insert, is_freed, life->freed_ns);
    insert_number(insert, (int64_t)life->born_event);
    insert_number_if(insert, is_freed, life->freed_event);
    insert_number(insert, life->born_step);
    insert_number_if(insert, is_freed, life->freed_step);
    insert_number_if(insert, detail->site != 0, detail->site);
    insert_number_if(insert, detail->operator_text != 0, detail->operator_text);
    insert_number_if(insert, detail->owner_text != 0, detail->owner_text);
    insert_number(insert, life->thread);
    insert_number_if(insert, is_freed, life->freeing_thread);
    insert_number_if(insert, module >= 0, (uint64_t)module);
    insert_number(insert, detail->is_older);
    insert_number(insert, group_is_reserved(export->question, life->group));
    put_row(export, TABLE_BLOCKS);
    return export->result == MT_OK;
}

/* NULL where no block and no reserved bytes were ever of that place. */
static void insert_ledger(struct sqlite_export *export, struct database_insert *insert,
                          const struct event *event)
{
    uint16_t ledger;
    bool is_known = tally_ledger_find(export->question->tally, event->process, event->pool,
                                      event->place, &ledger);

    insert_number_if(insert, is_known, ledger);
}

static void put_reserved(struct sqlite_export *export, const struct event *event)
{
    struct database_insert *insert = export->inserts[TABLE_RESERVED];

    insert_number(insert, export->event);
    insert_number(insert, (int64_t)event->time_ns);
    insert_ledger(export, insert, event);
    insert_number(insert, (int64_t)event->value);
    put_row(export, TABLE_RESERVED);
}

static void put_sample(struct sqlite_export *export, const struct event *event)
{
    struct database_insert *insert = export->inserts[TABLE_SAMPLES];
    int32_t device = model_place_at(export->question->model, event->place).device;

    insert_number(insert, export->event);
    insert_number(insert, (int64_t)event->time_ns);
    insert_number(insert, event->process);
    insert_number_if(insert, device >= 0, (uint64_t)device);
    insert_text(insert, text_at(export, event->text));
    insert_number(insert, (int64_t)event->value);
    put_row(export, TABLE_SAMPLES);
}

static void put_event(struct sqlite_export *export, const struct event *event)
{
    struct database_insert *insert = export->inserts[TABLE_EVENTS];
    bool has_ledger = event->kind == EVENT_ALLOC_FAILED || event->kind == EVENT_ACCESS;

    insert_number(insert, export->event);
    insert_number(insert, (int64_t)event->time_ns);
    insert_number(insert, event->process);
    insert_number(insert, event->thread);
    insert_text(insert, event_kind_name(event->kind));
    insert_text_or_null(insert, text_at(export, event->text));
    insert_number(insert, (int64_t)event->value);
    insert_number_if(insert, event->address != 0, event->address);
    if (has_ledger)
        insert_ledger(export, insert, event);
    else
        insert_null(insert);
    put_row(export, TABLE_EVENTS);
}

/* Steps as the tally counts them: the next one that begins ends the one before. */
static void follow_steps(struct sqlite_export *export, const struct event *event)
{
    const struct tally *tally = export->question->tally;
    size_t newest = export->begun_steps;

    if (event->kind == EVENT_STEP_BEGIN) {
        if (export->has_open_step)
            export->steps[newest - 1].end_event = export->event;
        export->steps[newest].begin_event = export->event;
        export->has_open_step = true;
        export->begun_steps++;
    } else if (export->has_open_step && tally_step_at(tally, newest - 1)->number == event->value) {
        export->steps[newest - 1].end_event = export->event;
        export->has_open_step = false;
    }
}

static bool on_event(void *context, const struct event *event)
{
    struct sqlite_export *export = context;

    export->event++;
    switch (event->kind) {
    case EVENT_ALLOC:
    case EVENT_FREE:
        break;
    case EVENT_RESERVED:
        put_reserved(export, event);
        break;
    case EVENT_SAMPLE:
        put_sample(export, event);
        break;
    case EVENT_STEP_BEGIN:
    case EVENT_STEP_END:
        follow_steps(export, event);
        put_event(export, event);
        break;
    default:
        put_event(export, event);
    }
    return export->result == MT_OK;
}

/* end_event 0: the process ended in it. */
static void put_phase(struct sqlite_export *export, uint64_t end_event)
{
    static const char *const names[PHASE_COUNT] = {
        [PHASE_OTHER] = "other",
        [PHASE_FORWARD] = "forward",
        [PHASE_BACKWARD] = "backward",
        [PHASE_OPTIMIZER] = "optimizer",
    };
    struct database_insert *insert = export->inserts[TABLE_PHASES];
    const struct step *step;

    if (export->phase == PHASE_OTHER)
        return;
    step = tally_step_at(export->question->tally, export->phase_step);
    insert_number(insert, step->process);
    insert_number(insert, step->index);
    insert_text(insert, names[export->phase]);
    insert_number(insert, (int64_t) export->phase_event);
    insert_number_if(insert, end_event != 0, end_event);
    put_row(export, TABLE_PHASES);
}

static bool on_phase(void *context, enum step_phase phase, uint64_t event)
{
    struct sqlite_export *export = context;

    put_phase(export, event);
    export->phase = phase;
    export->phase_event = event;
    export->phase_step = export->begun_steps - 1;
    return export->result == MT_OK;
}

static bool on_process_over(void *context, uint16_t process)
{
    struct sqlite_export *export = context;

    (void)process;
    put_phase(export, 0);
    export->phase = PHASE_OTHER;
    export->has_open_step = false;
    return true;
}

static void put_steps(struct sqlite_export *export)
{
    const struct tally *tally = export->question->tally;
    struct database_insert *insert = export->inserts[TABLE_STEPS];

    for (size_t i = 0; i < tally_step_count(tally); i++) {
        const struct step *step = tally_step_at(tally, i);

        insert_number(insert, step->process);
        insert_number(insert, step->index);
        insert_number(insert, (int64_t)step->number);
        insert_number(insert, (int64_t)step->begin_ns);
        insert_number_if(insert, step->is_ended, step->end_ns);
        insert_number(insert, export->steps[i].begin_event);
        insert_number_if(insert, step->is_ended, (uint64_t) export->steps[i].end_event);
        put_row(export, TABLE_STEPS);
    }
}

/* --- all of it ----------------------------------------------------------------------------- */

static void prepare_all(struct sqlite_export *export)
{
    for (size_t i = 0; i < TABLE_COUNT && export->result == MT_OK; i++)
        export->result = database_insert_prepare(export->writer, sqlite_tables[i].name,
                                                 sqlite_tables[i].column_count, &export->inserts[i],
                                                 export->error);
}

static void put_model(struct sqlite_export *export)
{
    put_about(export, "format", "leaktide-model");
    put_about(export, "schema_version", SQLITE_SCHEMA_VERSION);
    put_about(export, "source_kind", export->question->source_kind);
    put_processes(export);
    put_threads(export);
    put_ledgers(export);
    put_sites(export);
    put_names(export, TABLE_OPERATORS);
    put_names(export, TABLE_OWNERS);
    put_driver_modules(export);
    put_event_kinds(export);
    put_older_frees(export);
    put_accounts(export);
    put_notes(export);
}

static void put_events(struct sqlite_export *export)
{
    const struct life_visitor visitor = {
        .context = export,
        .over = on_life,
        .event = on_event,
        .phase = on_phase,
        .process_over = on_process_over,
    };
    struct mt_error trouble = {.message = ""};
    enum mt_result result;

    if (export->result != MT_OK)
        return;
    result = lives_read(export->question->events, export->request->model, &visitor, &trouble);
    if (export->result == MT_OK && result != MT_OK)
        export->result = mt_error_set(export->error, result, "%s", trouble.message);
    put_steps(export);
}

enum mt_result export_sqlite(const struct export_request *request, struct mt_error *error)
{
    struct sqlite_export export = {
        .request = request, .question = request->question, .error = error};

    arena_init(&export.arena);
    table_init(&export.frames, &export.arena, sizeof(struct symbol_frame));
    export.steps = calloc(tally_step_count(request->question->tally) + 1, sizeof(*export.steps));
    if (export.steps)
        export.result =
            database_create(request->path, request->name, sqlite_schema, &export.writer, error);
    else
        export.result = mt_error_set(error, MT_NO_MEMORY, "no memory for steps");
    if (export.result == MT_OK)
        prepare_all(&export);
    if (export.result == MT_OK) {
        put_model(&export);
        put_events(&export);
    }
    if (export.result == MT_OK)
        export.result = database_finish(export.writer, sqlite_indexes, error);
    database_writer_destroy(export.writer);
    hash_index_release(&export.frame_index);
    hash_index_release(&export.origin_index);
    arena_release(&export.arena);
    free(export.steps);
    return export.result;
}
