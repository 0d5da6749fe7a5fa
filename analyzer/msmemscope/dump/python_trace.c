/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls nest on a thread. An end whose beginning was not recorded is passed over; a beginning whose
 * end was not ends with the call around it, without a time.
 */
#include "python_trace.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "event_reader.h"
#include "export.h"
#include "list.h"
#include "outlet.h"
#include "trace_question.h"

struct call {
    uint32_t name; /* text */
    uint64_t start_ns;
};

struct thread_calls {
    struct call *open;
    size_t count, capacity;
};

/* One row; end_ns 0: it has none. */
struct call_row {
    const char *name;
    uint64_t start_ns, end_ns, thread_id, process_id;
};

struct reading {
    struct model *model;
    struct thread_calls *threads;
    size_t thread_count;
    enum mt_result (*row)(void *context, const struct call_row *row, struct mt_error *error);
    void *context;
    struct mt_error *error;
};

/* --- reading ------------------------------------------------------------------------------------
 */

bool python_trace_is_there(const struct mt_trace *trace)
{
    struct question question = trace_question(trace);
    size_t count = model_text_count(question.model);

    if (!tally_event_count(question.tally, EVENT_NOTE))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(model_text_at(question.model, i), "python call") == 0)
            return true;
    return false;
}

static enum mt_result no_memory(struct mt_error *error)
{
    return mt_error_set(error, MT_NO_MEMORY, "no memory for calls of Python");
}

static struct thread_calls *calls_of(struct reading *reading, uint32_t thread)
{
    if (!list_reach(&reading->threads, &reading->thread_count, thread, sizeof(*reading->threads)))
        return NULL;
    return &reading->threads[thread];
}

static enum mt_result call_begin(struct reading *reading, struct thread_calls *calls,
                                 const struct event *event)
{
    if (!list_has_room(&calls->open, &calls->capacity, calls->count, sizeof(*calls->open)))
        return no_memory(reading->error);
    calls->open[calls->count++] = (struct call){event->text, event->time_ns};
    return MT_OK;
}

static enum mt_result row_give(struct reading *reading, const struct call *call, uint32_t thread,
                               uint64_t end_ns)
{
    const struct model_thread *known = model_thread_at(reading->model, thread);
    const struct model_process *process = model_process_at(reading->model, known->process);
    uint64_t base_ns = export_realtime_base(process);
    struct call_row row = {.name = model_text_at(reading->model, call->name),
                           .start_ns = base_ns + call->start_ns,
                           .end_ns = end_ns ? base_ns + end_ns : 0,
                           .thread_id = known->thread_id,
                           .process_id = process->process_id};

    return reading->row(reading->context, &row, reading->error);
}

static enum mt_result call_end(struct reading *reading, struct thread_calls *calls,
                               const struct event *event)
{
    enum mt_result result = MT_OK;
    size_t at = calls->count;

    while (at && calls->open[at - 1].name != event->text)
        at--;
    if (!at)
        return MT_OK;
    for (; result == MT_OK && calls->count > at; calls->count--)
        result = row_give(reading, &calls->open[calls->count - 1], event->thread, 0);
    calls->count = at - 1;
    return result == MT_OK ? row_give(reading, &calls->open[at - 1], event->thread, event->time_ns)
                           : result;
}

static enum mt_result take(struct reading *reading, const struct event *event)
{
    const char *subject =
        event->kind == EVENT_NOTE ? model_text_at(reading->model, event->detail) : "";
    bool is_begin = strcmp(subject, "python call") == 0;
    struct thread_calls *calls;

    if (!is_begin && strcmp(subject, "python return") != 0)
        return MT_OK;
    calls = calls_of(reading, event->thread);
    if (!calls)
        return no_memory(reading->error);
    return is_begin ? call_begin(reading, calls, event) : call_end(reading, calls, event);
}

static enum mt_result give_open(struct reading *reading)
{
    enum mt_result result = MT_OK;

    for (uint32_t thread = 0; thread < reading->thread_count; thread++)
        for (size_t i = 0; result == MT_OK && i < reading->threads[thread].count; i++)
            result = row_give(reading, &reading->threads[thread].open[i], thread, 0);
    return result;
}

static enum mt_result read_calls(struct mt_trace *trace, struct reading *reading,
                                 struct mt_error *error)
{
    struct question question = trace_question(trace);
    struct event_reader reader;
    const struct event *batch;
    size_t count = 1;
    enum mt_result result = event_reader_begin(&reader, question.events, error);

    reading->model = trace_model(trace);
    reading->error = error;
    if (result == MT_OK)
        result = question.events->rewind(question.events->context, error);
    while (result == MT_OK && count) {
        result = event_reader_next(&reader, &batch, &count, error);
        for (size_t i = 0; result == MT_OK && i < count; i++)
            result = take(reading, &batch[i]);
    }
    event_reader_end(&reader);
    if (result == MT_OK)
        result = give_open(reading);
    for (size_t i = 0; i < reading->thread_count; i++)
        free(reading->threads[i].open);
    free(reading->threads);
    return result;
}

/* --- csv ----------------------------------------------------------------------------------------
 */

static enum mt_result put_row(void *context, const struct call_row *row, struct mt_error *error)
{
    struct outlet *out = context;

    (void)error;
    outlet_format(out, "%s,%" PRIu64 ",", row->name, row->start_ns);
    if (row->end_ns)
        outlet_number(out, row->end_ns);
    else
        outlet_add(out, "N/A");
    outlet_format(out, ",%" PRIu64 ",%" PRIu64 "\n", row->thread_id, row->process_id);
    return MT_OK;
}

enum mt_result python_trace_write_csv(struct mt_trace *trace, FILE *file, struct mt_error *error)
{
    struct outlet *out = outlet_create(FOR_CSV, file);
    struct reading reading = {.row = put_row, .context = out};
    enum mt_result result;

    outlet_add(out, "FuncInfo,StartTime(ns),EndTime(ns),Thread Id,Process Id\n");
    result = read_calls(trace, &reading, error);
    if (!outlet_destroy(out) && result == MT_OK)
        result = mt_error_set(error, MT_IO, "the calls of Python cannot be written");
    return result;
}

/* --- database -----------------------------------------------------------------------------------
 */

struct table {
    sqlite3 *database;
    sqlite3_stmt *insert;
};

static enum mt_result database_trouble(const struct table *table, struct mt_error *error)
{
    return mt_error_set(error, MT_IO, "the calls of Python cannot be written: %s",
                        sqlite3_errmsg(table->database));
}

static void bind_time(sqlite3_stmt *insert, int column, uint64_t time_ns)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, time_ns);
    sqlite3_bind_text(insert, column, time_ns ? text : "N/A", -1, SQLITE_TRANSIENT);
}

static enum mt_result insert_call(void *context, const struct call_row *row, struct mt_error *error)
{
    const struct table *table = context;

    sqlite3_bind_text(table->insert, 1, row->name, -1, SQLITE_STATIC);
    bind_time(table->insert, 2, row->start_ns);
    bind_time(table->insert, 3, row->end_ns);
    sqlite3_bind_int64(table->insert, 4, (sqlite3_int64)row->thread_id);
    sqlite3_bind_int64(table->insert, 5, (sqlite3_int64)row->process_id);
    if (sqlite3_step(table->insert) != SQLITE_DONE)
        return database_trouble(table, error);
    sqlite3_reset(table->insert);
    return MT_OK;
}

static enum mt_result table_open(struct table *table, const char *path, uint64_t process_id,
                                 struct mt_error *error)
{
    char sql[256];

    if (sqlite3_open_v2(path, &table->database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return database_trouble(table, error);
    snprintf(sql, sizeof(sql),
             "BEGIN; CREATE TABLE python_trace_%" PRIu64
             " (FuncInfo TEXT, \"StartTime(ns)\" TEXT, \"EndTime(ns)\" TEXT, \"Thread Id\" "
             "INTEGER, \"Process Id\" INTEGER)",
             process_id);
    if (sqlite3_exec(table->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        return database_trouble(table, error);
    snprintf(sql, sizeof(sql), "INSERT INTO python_trace_%" PRIu64 " VALUES (?, ?, ?, ?, ?)",
             process_id);
    return sqlite3_prepare_v2(table->database, sql, -1, &table->insert, NULL) == SQLITE_OK
               ? MT_OK
               : database_trouble(table, error);
}

enum mt_result python_trace_write_table(struct mt_trace *trace, const char *path,
                                        uint64_t process_id, struct mt_error *error)
{
    struct table table = {NULL, NULL};
    struct reading reading = {.row = insert_call, .context = &table};
    enum mt_result result = table_open(&table, path, process_id, error);

    if (result == MT_OK)
        result = read_calls(trace, &reading, error);
    sqlite3_finalize(table.insert);
    if (result == MT_OK && sqlite3_exec(table.database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        result = database_trouble(&table, error);
    sqlite3_close(table.database);
    return result;
}
