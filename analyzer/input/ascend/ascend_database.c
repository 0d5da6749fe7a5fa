/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One query per table; SQLite puts the rows in order of time.
 */
#include "ascend_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "database.h"
#include "list.h"

enum { query_bytes_max = 2048 };

struct table_stream {
    const struct ascend_rank *rank;
    struct database *database;
    struct database_query *query;
    const struct table_kind *kind;
    uint16_t framework_pool, graph_pool, workspace_pool;
    uint64_t row_count, odd_count; /* of these, rows without usable values */
};

/* The first column of each query is the time. False: the table cannot be read, the row has no
 * usable values. */
struct table_kind {
    const char *table, *time_column;
    int word_column; /* a text, as is the stream; all others are numbers or NULL */
    int value_column, device_column, stream_column; /* the first two are never NULL; -1: none */
    const char *more; /* columns that every version has, and that are only missed: "a b" */
    bool (*write_query)(struct database *database, char *query);
    bool (*fill)(struct table_stream *stream, struct ascend_row *row);
};

static struct ascend_total total_at(struct table_stream *stream, int column)
{
    struct ascend_total total = {0};

    if (database_is_null(stream->query, column) || database_integer(stream->query, column) < 0)
        return total;
    total.bytes = (uint64_t)database_integer(stream->query, column);
    total.is_known = true;
    return total;
}

static struct csv_field text_at(struct table_stream *stream, int column)
{
    struct csv_field field;

    field.bytes = database_text(stream->query, column, &field.size_bytes);
    return field;
}

static uint32_t stream_at(struct table_stream *stream, int column)
{
    struct csv_field text = text_at(stream, column);

    return database_is_null(stream->query, column)
               ? 0
               : model_text(stream->rank->model, text.bytes, text.size_bytes);
}

static uint16_t place_at(struct table_stream *stream, int column)
{
    int64_t device = database_integer(stream->query, column);
    bool is_known = !database_is_null(stream->query, column) && device >= 0 && device <= INT16_MAX;

    return ascend_place(stream->rank->model, is_known ? (int32_t)device : -1);
}

static const char *or_null(struct database *database, const char *table, const char *column)
{
    return database_has_column(database, table, column) ? column : "NULL";
}

/* Words are in ENUM_MEMORY, in databases of 2024, or in STRING_IDS. */
static const char *words_of_memory(struct database *database, const char **text_column)
{
    bool is_enum = database_has_table(database, "ENUM_MEMORY");

    *text_column = is_enum ? "name" : "value";
    return is_enum ? "ENUM_MEMORY" : "STRING_IDS";
}

/* --- OP_MEMORY ----------------------------------------------------------------------------- */

enum op_column {
    OP_TIME,
    OP_ALLOCATION,
    OP_RELEASE,
    OP_ACTIVE_RELEASE,
    OP_NAME,
    OP_SIZE,
    OP_ALLOCATED,
    OP_RESERVED,
    OP_ACTIVE,
    OP_RELEASE_ALLOCATED,
    OP_RELEASE_RESERVED,
    OP_STREAM,
    OP_DEVICE,
    OP_ROW
};

static bool write_op_memory(struct database *database, char *query)
{
    const char *table = "OP_MEMORY";
    int length = snprintf(
        query, query_bytes_max,
        "SELECT coalesce(t.allocationTime, t.releaseTime) AS at, t.allocationTime, t.releaseTime, "
        "%s, s.value, t.size, %s, %s, %s, %s, %s, %s, t.deviceId, t.rowid "
        "FROM OP_MEMORY t LEFT JOIN STRING_IDS s ON s.id = t.name ORDER BY at, t.rowid",
        or_null(database, table, "activeReleaseTime"),
        or_null(database, table, "allocationTotalAllocated"),
        or_null(database, table, "allocationTotalReserved"),
        or_null(database, table, "allocationTotalActive"),
        or_null(database, table, "releaseTotalAllocated"),
        or_null(database, table, "releaseTotalReserved"), or_null(database, table, "streamPtr"));

    return length < query_bytes_max && database_has_table(database, "STRING_IDS");
}

/* Blocks of the graph engine are called cann:: in the csv files; here they have neither stream
 * nor active bytes. */
static uint32_t op_name(struct table_stream *stream, bool is_graph)
{
    struct csv_field name = text_at(stream, OP_NAME);
    char longer[512];
    int length;

    if (!is_graph || strncmp(name.bytes, "cann::", 6) == 0)
        return model_text(stream->rank->model, name.bytes, name.size_bytes);
    length = snprintf(longer, sizeof(longer), "cann::%s", name.bytes);
    return model_text(stream->rank->model, longer,
                      (size_t)length < sizeof(longer) ? (size_t)length : sizeof(longer) - 1);
}

static uint64_t op_release(struct table_stream *stream, bool is_graph, uint64_t time_ns)
{
    int column = database_is_null(stream->query, OP_RELEASE) ? OP_ACTIVE_RELEASE : OP_RELEASE;
    uint64_t release_ns = (uint64_t)database_integer(stream->query, column);

    if (database_is_null(stream->query, column))
        return 0;
    if (is_graph && release_ns == time_ns && !total_at(stream, OP_RELEASE_ALLOCATED).bytes &&
        !total_at(stream, OP_RELEASE_RESERVED).bytes)
        return 0;
    return release_ns;
}

static uint64_t op_return(struct table_stream *stream, const struct ascend_row *row)
{
    uint64_t return_ns = (uint64_t)database_integer(stream->query, OP_ACTIVE_RELEASE);
    bool is_known = row->release_ns && !database_is_null(stream->query, OP_ACTIVE_RELEASE);

    return is_known && return_ns >= row->time_ns ? return_ns : 0;
}

static void op_counters(struct table_stream *stream, bool is_graph, struct ascend_row *row)
{
    struct model *model = stream->rank->model;
    struct csv_field name = {"PTA", 3};

    if (stream->rank->has_record || row->is_workspace)
        return;
    if (is_graph)
        name = (struct csv_field){"GE", 2};
    else if (stream->rank->is_mindspore)
        name = (struct csv_field){"MindSpore", 9};
    ascend_counter_add(model, row, name, "allocated", row->allocated);
    ascend_counter_add(model, row, name, "reserved", row->reserved);
    ascend_counter_add(model, row, name, "active", total_at(stream, OP_ACTIVE));
}

static bool fill_op_memory(struct table_stream *stream, struct ascend_row *row)
{
    bool is_graph =
        database_is_null(stream->query, OP_STREAM) && database_is_null(stream->query, OP_ACTIVE);
    int64_t size = database_integer(stream->query, OP_SIZE);
    const struct ascend_rank *rank = stream->rank;

    row->id = (uint64_t)database_integer(stream->query, OP_ROW);
    row->place = place_at(stream, OP_DEVICE);
    row->pool = is_graph ? stream->graph_pool : stream->framework_pool;
    row->size_bytes = (uint64_t)(size < 0 ? -size : size);
    if (database_is_null(stream->query, OP_ALLOCATION)) {
        row->kind = ASCEND_OLDER_RELEASE;
        row->release_allocated = total_at(stream, OP_RELEASE_ALLOCATED);
        return true;
    }
    row->kind = ASCEND_BLOCK;
    row->name = op_name(stream, is_graph);
    row->release_ns = op_release(stream, is_graph, row->time_ns);
    row->returned_ns = op_return(stream, row);
    row->stream_name = stream_at(stream, OP_STREAM);
    row->allocated = total_at(stream, OP_ALLOCATED);
    row->reserved = total_at(stream, OP_RESERVED);
    if (!is_graph)
        row->release_allocated = total_at(stream, OP_RELEASE_ALLOCATED);
    if (!is_graph && rank->workspace_count &&
        bsearch(&row->time_ns, rank->workspace_times, rank->workspace_count, sizeof(uint64_t),
                compare_number_rows)) {
        row->is_workspace = true;
        row->pool = stream->workspace_pool;
        row->stream = (uint64_t)database_integer(stream->query, OP_STREAM);
    }
    op_counters(stream, is_graph, row);
    return size >= 0 && (!row->release_ns || row->release_ns >= row->time_ns);
}

/* --- NPU_OP_MEM: events with addresses, paired by the query ----------------------------------- */

enum npu_op_column {
    NPU_OP_TIME,
    NPU_OP_RELEASE,
    NPU_OP_NAME,
    NPU_OP_SIZE,
    NPU_OP_ALLOCATED,
    NPU_OP_RESERVED,
    NPU_OP_DEVICE,
    NPU_OP_ROW
};

static bool write_npu_op_mem(struct database *database, char *query)
{
    const char *text_column;
    const char *words = words_of_memory(database, &text_column);
    int length = snprintf(
        query, query_bytes_max,
        "SELECT at, CASE WHEN next_what = 'release' THEN next_at END, name, size, totalAllocate, "
        "totalReserve, deviceId, row FROM (SELECT t.timestampNs AS at, t.rowid AS row, "
        "lower(w.%s) AS what, s.value AS name, t.size, t.totalAllocate, t.totalReserve, "
        "t.deviceId, lead(t.timestampNs) OVER life AS next_at, "
        "lead(lower(w.%s)) OVER life AS next_what FROM NPU_OP_MEM t "
        "LEFT JOIN %s w ON w.id = t.type LEFT JOIN STRING_IDS s ON s.id = t.operatorName "
        "WINDOW life AS (PARTITION BY t.operatorName, t.addr, t.deviceId "
        "ORDER BY t.timestampNs, lower(w.%s), t.rowid)) WHERE what = 'allocate' ORDER BY at, row",
        text_column, text_column, words, text_column);

    /* OP_MEMORY has the same blocks, and those of the framework. */
    return length < query_bytes_max && database_has_table(database, "STRING_IDS") &&
           database_has_table(database, words) && !database_has_table(database, "OP_MEMORY");
}

static bool fill_npu_op_mem(struct table_stream *stream, struct ascend_row *row)
{
    struct csv_field name = text_at(stream, NPU_OP_NAME);
    struct csv_field graph_name = {"GE", 2};

    row->kind = ASCEND_BLOCK;
    row->id = (uint64_t)database_integer(stream->query, NPU_OP_ROW);
    row->place = place_at(stream, NPU_OP_DEVICE);
    row->pool = stream->graph_pool;
    row->name = model_text(stream->rank->model, name.bytes, name.size_bytes);
    row->size_bytes = (uint64_t)llabs(database_integer(stream->query, NPU_OP_SIZE));
    if (!database_is_null(stream->query, NPU_OP_RELEASE))
        row->release_ns = (uint64_t)database_integer(stream->query, NPU_OP_RELEASE);
    row->allocated = total_at(stream, NPU_OP_ALLOCATED);
    row->reserved = total_at(stream, NPU_OP_RESERVED);
    if (!stream->rank->has_record) {
        ascend_counter_add(stream->rank->model, row, graph_name, "allocated", row->allocated);
        ascend_counter_add(stream->rank->model, row, graph_name, "reserved", row->reserved);
    }
    return true;
}

/* --- counters ------------------------------------------------------------------------------ */

static bool write_record(struct database *database, char *query)
{
    return snprintf(
               query, query_bytes_max,
               "SELECT t.timestamp AS at, s.value, t.totalAllocated, t.totalReserved, %s, "
               "t.deviceId, %s FROM MEMORY_RECORD t LEFT JOIN STRING_IDS s ON s.id = t.component "
               "ORDER BY at, t.rowid",
               or_null(database, "MEMORY_RECORD", "totalActive"),
               or_null(database, "MEMORY_RECORD", "streamPtr")) < query_bytes_max &&
           database_has_table(database, "STRING_IDS");
}

static bool fill_record(struct table_stream *stream, struct ascend_row *row)
{
    struct model *model = stream->rank->model;
    struct csv_field component = text_at(stream, 1);

    if (!component.size_bytes)
        return false;
    row->place = place_at(stream, 5);
    row->stream_name = stream_at(stream, 6);
    ascend_counter_add(model, row, component, "reserved", total_at(stream, 3));
    ascend_counter_add(model, row, component, "allocated", total_at(stream, 2));
    if (component.size_bytes != 2 || memcmp(component.bytes, "GE", 2) != 0) /* always 0 there */
        ascend_counter_add(model, row, component, "active", total_at(stream, 4));
    return row->counter_count > 0;
}

static bool write_npu_mem(struct database *database, char *query)
{
    const char *text_column;
    const char *words = words_of_memory(database, &text_column);

    return snprintf(query, query_bytes_max,
                    "SELECT t.timestampNs AS at, CASE lower(w.%s) WHEN 'app' THEN 'APP' WHEN "
                    "'device' THEN 'Device' ELSE w.%s END, t.ddr, t.hbm, t.ddr + t.hbm, t.deviceId "
                    "FROM NPU_MEM t LEFT JOIN %s w ON w.id = t.type ORDER BY at, t.rowid",
                    text_column, text_column, words) < query_bytes_max &&
           database_has_table(database, words);
}

static bool fill_npu_mem(struct table_stream *stream, struct ascend_row *row)
{
    struct model *model = stream->rank->model;
    struct csv_field type = text_at(stream, 1);

    if (!type.size_bytes)
        return false;
    row->place = place_at(stream, 5);
    ascend_counter_add(model, row, type, "reserved", total_at(stream, 4));
    ascend_counter_add(model, row, type, "ddr", total_at(stream, 2));
    ascend_counter_add(model, row, type, "hbm", total_at(stream, 3));
    return row->counter_count > 0;
}

static bool write_module_mem(struct database *database, char *query)
{
    bool has_names = database_has_table(database, "ENUM_MODULE");

    return snprintf(query, query_bytes_max,
                    "SELECT t.timestampNs AS at, 'module ' || coalesce(%s, CASE typeof(t.moduleId) "
                    "WHEN 'integer' THEN t.moduleId END), "
                    "t.totalReserved, t.deviceId FROM NPU_MODULE_MEM t %s ORDER BY at, t.rowid",
                    has_names ? "m.name" : "NULL",
                    has_names ? "LEFT JOIN ENUM_MODULE m ON m.id = t.moduleId" : "") <
           query_bytes_max;
}

static bool fill_module_mem(struct table_stream *stream, struct ascend_row *row)
{
    struct csv_field module = text_at(stream, 1);

    if (!module.size_bytes)
        return false;
    row->place = place_at(stream, 3);
    ascend_counter_add(stream->rank->model, row, module, "reserved", total_at(stream, 2));
    return row->counter_count > 0;
}

static const struct table_kind kinds[] = {
    {"OP_MEMORY", "coalesce(allocationTime, releaseTime)", OP_NAME, OP_SIZE, OP_DEVICE, OP_STREAM,
     "activeReleaseTime allocationTotalAllocated allocationTotalReserved allocationTotalActive "
     "releaseTotalAllocated releaseTotalReserved streamPtr",
     write_op_memory, fill_op_memory},
    {"NPU_OP_MEM", "timestampNs", NPU_OP_NAME, NPU_OP_SIZE, NPU_OP_DEVICE, -1, "", write_npu_op_mem,
     fill_npu_op_mem},
    {"MEMORY_RECORD", "timestamp", 1, 3, 5, 6, "totalActive streamPtr", write_record, fill_record},
    {"NPU_MEM", "timestampNs", 1, 4, 5, -1, "", write_npu_mem, fill_npu_mem},
    {"NPU_MODULE_MEM", "timestampNs", 1, 2, 3, -1, "", write_module_mem, fill_module_mem},
};

enum { kind_count = sizeof(kinds) / sizeof(kinds[0]) };

/* --- streams ------------------------------------------------------------------------------- */

/* Text where a number is would be read as 0. */
static bool is_sound(const struct table_stream *stream)
{
    const struct table_kind *kind = stream->kind;
    int count = (int)database_column_count(stream->query);

    for (int i = 0; i < count; i++)
        if (i != kind->word_column && i != kind->stream_column &&
            !database_is_null(stream->query, i) && !database_is_number(stream->query, i))
            return false;
    return database_is_number(stream->query, 0) &&
           !database_is_null(stream->query, kind->value_column) &&
           !database_is_null(stream->query, kind->device_column);
}

static void table_close(void *state)
{
    struct table_stream *stream = state;

    model_add_share(stream->rank->model, PART_ROWS,
                    (struct model_share){stream->odd_count, stream->row_count});
    if (stream->odd_count)
        model_note(stream->rank->model, stream->odd_count, "%s: rows skipped: no usable values",
                   stream->kind->table);
    database_query_close(stream->query);
    database_close(stream->database);
    free(stream);
}

static enum mt_result table_next(void *state, struct ascend_row *row, bool *has_row,
                                 struct mt_error *error)
{
    struct table_stream *stream = state;

    for (;;) {
        enum mt_result result = database_next(stream->query, has_row, error);
        int64_t time_ns;

        if (result == MT_CORRUPT && model_wants_partial(stream->rank->model)) {
            model_note_damage(stream->rank->model, error);
            return MT_OK;
        }
        if (result != MT_OK || !*has_row)
            return result;
        stream->row_count++;
        time_ns = database_integer(stream->query, 0);
        *row = (struct ascend_row){.kind = ASCEND_COUNTERS, .time_ns = (uint64_t)time_ns};
        if (is_sound(stream) && time_ns > 0 && stream->kind->fill(stream, row))
            return MT_OK;
        stream->odd_count++;
    }
}

/* Least and greatest time; false when the table has no rows. MT_CORRUPT: none has a time. */
static enum mt_result find_span(const char *path, struct database *database,
                                const struct table_kind *kind, struct ascend_stream *stream,
                                bool *has_rows, struct mt_error *error)
{
    char text[256];
    struct database_query *query;
    bool has_row = false, has_time = false;
    enum mt_result result;

    snprintf(text, sizeof(text), "SELECT min(at), max(at), count(*) FROM (SELECT %s AS at FROM %s)",
             kind->time_column, kind->table);
    *has_rows = false;
    result = database_query(database, text, &query, error);
    if (result != MT_OK)
        return result;
    result = database_next(query, &has_row, error);
    if (result == MT_OK && has_row) {
        *has_rows = database_integer(query, 2) > 0;
        has_time = database_is_number(query, 0) && database_integer(query, 1) > 0;
        stream->first_ns = (uint64_t)database_integer(query, 0);
        stream->last_ns = (uint64_t)database_integer(query, 1);
    }
    database_query_close(query);
    if (result == MT_OK && *has_rows && !has_time)
        return mt_error_set(error, MT_CORRUPT, "%s: no row of %s has a time", path, kind->table);
    return result;
}

static void note_missed_columns(const char *path, struct database *database,
                                const struct table_kind *kind, struct model *model)
{
    char name[64];

    for (const char *at = kind->more; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");

        snprintf(name, sizeof(name), "%.*s", (int)length, at);
        if (!database_has_column(database, kind->table, name))
            model_lack(model, "%s: %s has no column %s", path, kind->table, name);
        at += length;
    }
}

static enum mt_result open_table(const char *path, const struct ascend_rank *rank,
                                 const struct table_kind *kind, struct ascend_stream *stream,
                                 bool *is_there, struct mt_error *error)
{
    struct table_stream *state = calloc(1, sizeof(*state));
    char query[query_bytes_max];
    enum mt_result result;

    *is_there = false;
    if (!state)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    state->rank = rank;
    state->kind = kind;
    result = database_open_partial(path, rank->model, &state->database, error);
    if (result == MT_OK && database_has_table(state->database, kind->table) &&
        kind->write_query(state->database, query))
        result = find_span(path, state->database, kind, stream, is_there, error);
    if (result == MT_OK && *is_there)
        note_missed_columns(path, state->database, kind, rank->model);
    if (result == MT_OK && *is_there)
        result = database_query(state->database, query, &state->query, error);
    if (result != MT_OK || !*is_there) {
        *is_there = false;
        table_close(state);
        return result;
    }
    state->framework_pool =
        model_known_pool(rank->model, rank->is_mindspore ? POOL_MINDSPORE : POOL_PTA);
    state->graph_pool = model_known_pool(rank->model, POOL_GE);
    if (rank->workspace_count)
        state->workspace_pool = model_known_pool(rank->model, POOL_PTA_WORKSPACE);
    stream->state = state;
    stream->next = table_next;
    stream->close = table_close;
    return MT_OK;
}

enum mt_result ascend_database_streams(const char *path, const struct ascend_rank *rank,
                                       struct ascend_stream *streams, size_t *count,
                                       struct mt_error *error)
{
    size_t found = 0;

    *count = 0;
    for (size_t i = 0; i < kind_count && found < ASCEND_DATABASE_STREAMS; i++) {
        bool is_there;
        enum mt_result result =
            open_table(path, rank, &kinds[i], &streams[found], &is_there, error);

        if (result != MT_OK) {
            while (found-- > 0)
                streams[found].close(streams[found].state);
            return result;
        }
        found += is_there;
    }
    *count = found;
    return MT_OK;
}

/* --- looking ahead ------------------------------------------------------------------------- */

bool ascend_database_recognises(const char *path)
{
    struct database *database;
    bool has_memory = false;

    if (!database_recognises(path) || database_open_to_look(path, &database, NULL) != MT_OK)
        return false;
    for (size_t i = 0; i < kind_count; i++)
        has_memory |= database_has_table(database, kinds[i].table);
    database_close(database);
    return has_memory;
}

static enum mt_result visit_rank(struct database_query *query, void *context,
                                 struct mt_error *error)
{
    (void)error;
    *(int32_t *)context = (int32_t)database_integer(query, 0);
    return MT_OK;
}

static enum mt_result visit_flag(struct database_query *query, void *context,
                                 struct mt_error *error)
{
    (void)error;
    *(bool *)context = database_integer(query, 0) != 0;
    return MT_OK;
}

static enum mt_result visit_workspace(struct database_query *query, void *context,
                                      struct mt_error *error)
{
    struct ascend_record_facts *facts = context;

    if (!list_has_room(&facts->workspace_times, &facts->workspace_capacity, facts->workspace_count,
                       sizeof(*facts->workspace_times)))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for workspace rows");
    facts->workspace_times[facts->workspace_count++] = (uint64_t)database_integer(query, 0);
    return MT_OK;
}

enum mt_result ascend_database_look(const char *path, struct model *model,
                                    struct ascend_record_facts *facts, bool *has_record,
                                    int32_t *rank, struct mt_error *error)
{
    struct database *database;
    enum mt_result result = database_open_partial(path, model, &database, error);

    *facts = (struct ascend_record_facts){.megabyte = 1 << 20};
    *has_record = false;
    *rank = -1;
    if (result != MT_OK)
        return result;
    database_note_log(database, model);
    result = database_each_row(database, "SELECT rankId FROM RANK_DEVICE_MAP LIMIT 1", visit_rank,
                               rank, error);
    if (result == MT_OK)
        result = database_each_row(database, "SELECT EXISTS (SELECT 1 FROM MEMORY_RECORD)",
                                   visit_flag, has_record, error);
    if (result == MT_OK)
        result = database_each_row(database,
                                   "SELECT EXISTS (SELECT 1 FROM MEMORY_RECORD WHERE component IN "
                                   "(SELECT id FROM STRING_IDS WHERE value = 'MindSpore'))",
                                   visit_flag, &facts->is_mindspore, error);
    if (result == MT_OK)
        result = database_each_row(
            database,
            "SELECT timestamp FROM MEMORY_RECORD WHERE component IN (SELECT id FROM "
            "STRING_IDS WHERE value = 'WORKSPACE') ORDER BY timestamp",
            visit_workspace, facts, error);
    database_close(database);
    if (result != MT_OK) {
        free(facts->workspace_times);
        *facts = (struct ascend_record_facts){0};
    }
    return result;
}

static enum mt_result visit_step(struct database_query *query, void *context,
                                 struct mt_error *error)
{
    struct ascend_step step = {.number = (uint64_t)database_integer(query, 0),
                               .begin_ns = (uint64_t)database_integer(query, 1),
                               .end_ns = (uint64_t)database_integer(query, 2)};
    struct ascend_steps *steps = context;
    bool is_sound = database_is_number(query, 0) && database_is_number(query, 1) &&
                    database_is_number(query, 2) && step.begin_ns && step.begin_ns <= step.end_ns;

    model_add_share(steps->model, PART_ROWS, (struct model_share){!is_sound, 1});
    if (!is_sound)
        model_note(steps->model, 1, "rows of STEP_TIME that make no sense, and were left out");
    if (!is_sound || ascend_step_add(steps, step))
        return MT_OK;
    return mt_error_set(error, MT_NO_MEMORY, "too many steps");
}

enum mt_result ascend_steps_from_database(const char *path, struct ascend_steps *steps,
                                          struct mt_error *error)
{
    static const char *const columns[] = {"id", "startNs", "endNs"};
    struct database *database;
    enum mt_result result = database_open_partial(path, steps->model, &database, error);

    if (result != MT_OK)
        return result;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        if (database_has_table(database, "STEP_TIME") &&
            !database_has_column(database, "STEP_TIME", columns[i]))
            model_lack(steps->model, "%s: STEP_TIME has no column %s", path, columns[i]);
    result = database_each_row(database, "SELECT id, startNs, endNs FROM STEP_TIME", visit_step,
                               steps, error);
    database_close(database);
    return result;
}
