/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank's profile, as a database and as csv files.
 */
#include "ascend_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ascend_csv_writer.h"
#include "ascend_trace_view.h"
#include "database_writer.h"
#include "leaktide/profiler_step.h"
#include "outlet.h"

enum { sql_most_bytes = 256, PROFILER_STEP_MOST = 40 };

struct ascend_tables {
    struct ascend_profile profile;
    struct database_writer *writer;
    struct database_insert *block, *release, *returned, *record, *module, *step, *operator;
    struct text_builder folder, output; /* the profile's, and of its files */
};

/* Columns and their types are those of the profilers, schema 1.0. */
static const char schema[] =
    "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE OP_MEMORY (name INTEGER, size INTEGER, allocationTime INTEGER,"
    " releaseTime INTEGER, activeReleaseTime INTEGER, duration INTEGER, activeDuration INTEGER,"
    " allocationTotalAllocated INTEGER, allocationTotalReserved INTEGER,"
    " allocationTotalActive INTEGER, releaseTotalAllocated INTEGER, releaseTotalReserved INTEGER,"
    " releaseTotalActive INTEGER, streamPtr INTEGER, deviceId INTEGER);"
    "CREATE TABLE MEMORY_RECORD (component INTEGER, timestamp INTEGER, totalAllocated INTEGER,"
    " totalReserved INTEGER, totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER);"
    "CREATE TABLE NPU_MEM (type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER,"
    " deviceId INTEGER);"
    "CREATE TABLE NPU_MODULE_MEM (moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC,"
    " deviceId INTEGER);"
    "CREATE TABLE ENUM_MODULE (id INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);"
    "CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER,"
    " name INTEGER, sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER,"
    " inputShapes INTEGER, callchainId INTEGER, type INTEGER);"
    "CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);"
    "CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);"
    "INSERT INTO ENUM_API_TYPE VALUES (20000, 'acl'), (15000, 'model'), (10000, 'node'),"
    " (5500, 'communication'), (5000, 'runtime'), (50001, 'op'), (50002, 'queue'),"
    " (50003, 'trace'), (50004, 'mstx');"
    "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);"
    "CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT);"
    "CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);"
    "CREATE TABLE META_DATA (name TEXT, value TEXT);"
    "INSERT INTO META_DATA VALUES ('SCHEMA_VERSION', '1.0.0'), ('SCHEMA_VERSION_MAJOR', '1'),"
    " ('SCHEMA_VERSION_MINOR', '0'), ('SCHEMA_VERSION_MICRO', '0');"
    "CREATE TEMP TABLE blocks (id INTEGER PRIMARY KEY, row INTEGER, name TEXT, size INTEGER, born "
    "INTEGER,"
    " is_graph INTEGER, stream TEXT, device INTEGER, born_allocated INTEGER,"
    " born_reserved INTEGER, born_active INTEGER, freed INTEGER, returned INTEGER,"
    " freed_allocated INTEGER, freed_reserved INTEGER, freed_active INTEGER);"
    "CREATE TEMP TABLE records (id INTEGER PRIMARY KEY, component TEXT, time INTEGER,"
    " allocated INTEGER, reserved INTEGER, active INTEGER, ddr INTEGER, hbm INTEGER, stream TEXT,"
    " device INTEGER);"
    "CREATE TEMP TABLE modules (id INTEGER PRIMARY KEY, name TEXT, time INTEGER, bytes INTEGER,"
    " device INTEGER);"
    "CREATE TEMP TABLE operators (id INTEGER PRIMARY KEY, name TEXT, begin INTEGER, end INTEGER,"
    " thread INTEGER);"
    "CREATE TEMP TABLE names (id INTEGER PRIMARY KEY, value TEXT UNIQUE);";

/* Blocks of the graph engine have no prefix here; an unreleased one says it was released at once,
 * with nothing left: that is how the profilers have it. What a pool reserved is told after its
 * first blocks, and profiles have no row without it. Texts count from 2 << 28. */
static const char fill[] =
    "UPDATE blocks SET freed = born, freed_allocated = 0, freed_reserved = 0"
    " WHERE is_graph AND freed IS NULL;"
    "CREATE TEMP TABLE told AS SELECT component, device, min(id), reserved FROM records"
    " WHERE reserved IS NOT NULL GROUP BY component, device;"
    "UPDATE records SET reserved = (SELECT told.reserved FROM told"
    " WHERE told.component = records.component AND told.device = records.device)"
    " WHERE reserved IS NULL AND component NOT IN ('APP', 'Device');"
    "CREATE TEMP TABLE born_told AS SELECT is_graph, device, min(id), born_reserved AS reserved"
    " FROM blocks WHERE born_reserved IS NOT NULL GROUP BY is_graph, device;"
    "UPDATE blocks SET born_reserved = (SELECT reserved FROM born_told"
    " WHERE born_told.is_graph = blocks.is_graph AND born_told.device = blocks.device)"
    " WHERE born_reserved IS NULL;"
    "INSERT INTO names (id, value) VALUES (536870911, '');"
    "INSERT OR IGNORE INTO names (value) SELECT component FROM records"
    " WHERE component NOT IN ('APP', 'Device') ORDER BY id;"
    "INSERT OR IGNORE INTO names (value) VALUES ('app'), ('device');"
    "INSERT OR IGNORE INTO names (value) SELECT CASE WHEN is_graph AND name LIKE 'cann::%'"
    " THEN substr(name, 7) ELSE name END FROM blocks ORDER BY id;"
    "INSERT OR IGNORE INTO names (value) SELECT name FROM operators ORDER BY id;"
    "INSERT INTO STRING_IDS SELECT id, value FROM names;"
    "INSERT INTO PYTORCH_API (startNs, endNs, globalTid, name, type) SELECT begin, end, thread,"
    " names.id, 50001 FROM operators JOIN names ON value = name ORDER BY begin, operators.id;"
    "INSERT INTO OP_MEMORY SELECT names.id, size, born, freed, returned, freed - born,"
    " returned - born, born_allocated, born_reserved, born_active, freed_allocated,"
    " freed_reserved, freed_active, CASE WHEN stream <> '' THEN CAST(stream AS INTEGER) END, device"
    " FROM blocks JOIN names ON value = CASE WHEN is_graph AND name LIKE 'cann::%'"
    " THEN substr(name, 7) ELSE name END ORDER BY is_graph, CASE WHEN is_graph THEN 0 ELSE born "
    "END, row;"
    "INSERT INTO MEMORY_RECORD SELECT names.id, time, allocated, reserved,"
    " CASE WHEN component = 'GE' THEN 0 ELSE active END,"
    " CASE WHEN stream <> '' THEN CAST(stream AS INTEGER) END, device"
    " FROM records JOIN names ON value = component WHERE component NOT IN ('APP', 'Device')"
    " ORDER BY time, records.id;"
    "INSERT INTO NPU_MEM SELECT names.id, coalesce(ddr, 0), coalesce(hbm, reserved), time, device"
    " FROM records JOIN names ON value = lower(component) WHERE component IN ('APP', 'Device')"
    " ORDER BY records.id;"
    "INSERT OR REPLACE INTO ENUM_MODULE SELECT DISTINCT CAST(name AS INTEGER), name FROM modules"
    " WHERE name GLOB '[0-9]*' AND NOT name GLOB '*[^0-9]*';"
    "INSERT INTO ENUM_MODULE (name) SELECT DISTINCT name FROM modules"
    " WHERE name NOT IN (SELECT name FROM ENUM_MODULE);"
    "INSERT INTO NPU_MODULE_MEM SELECT ENUM_MODULE.id, time, bytes, device"
    " FROM modules JOIN ENUM_MODULE USING (name) ORDER BY ENUM_MODULE.id, time, modules.id;";

/* ENUM_MODULE as CANN 8 has it. */
static const char *const module_names[] = {
    "SLOG",        "IDEDD",
    "IDEDH",       "HCCL",
    "FMK",         "HIAIENGINE",
    "DVPP",        "RUNTIME",
    "CCE",         "HDC",
    "DRV",         "MDCFUSION",
    "MDCLOCATION", "MDCPERCEPTION",
    "MDCFSM",      "MDCCOMMON",
    "MDCMONITOR",  "MDCBSWP",
    "MDCDEFAULT",  "MDCSC",
    "MDCPNC",      "MLL",
    "DEVMM",       "KERNEL",
    "LIBMEDIA",    "CCECPU",
    "ASCENDDK",    "ROS",
    "HCCP",        "ROCE",
    "TEFUSION",    "PROFILING",
    "DP",          "APP",
    "TS",          "TSDUMP",
    "AICPU",       "LP",
    "TDT",         "FE",
    "MD",          "MB",
    "ME",          "IMU",
    "IMP",         "GE",
    "MDCFUSA",     "CAMERA",
    "ASCENDCL",    "TEEOS",
    "ISP",         "SIS",
    "HSM",         "DSS",
    "PROCMGR",     "BBOX",
    "AIVECTOR",    "TBE",
    "FV",          "MDCMAP",
    "TUNE",        "HSS",
    "FFTS",        "OP",
    "UDF",         "HICAID",
    "TSYNC",       "AUDIO",
    "TPRT",        "ASCENDCKERNEL",
    "ASYS",        "ATRACE",
    "RTC",         "SYSMONITOR",
    "AMP",         "ADETECT",
    "MBUFF",       "CUSTOM",
};

/* --- making -------------------------------------------------------------------------------- */

static enum mt_result say_errno(const struct ascend_tables *tables, struct mt_error *error)
{
    return mt_error_set(error, MT_USAGE, "%s: %s", tables->profile.name, strerror(errno));
}

static enum mt_result prepare_all(struct ascend_tables *tables, struct mt_error *error)
{
    const struct {
        struct database_insert **out;
        const char *sql;
    } statements[] = {
        {&tables->block,
         "INSERT INTO temp.blocks (id, row, name, size, born, is_graph, stream, device,"
         " born_allocated, born_reserved, born_active)"
         " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {&tables->release, "UPDATE temp.blocks SET freed = ?2, freed_allocated = ?3,"
                           " freed_reserved = ?4, freed_active = ?5 WHERE id = ?1"},
        {&tables->returned, "UPDATE temp.blocks SET returned = ?2 WHERE id = ?1"},
        {&tables->record, "INSERT INTO temp.records (component, time, allocated, reserved, active,"
                          " ddr, hbm, stream, device) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
        {&tables->module,
         "INSERT INTO temp.modules (name, time, bytes, device) VALUES (?, ?, ?, ?)"},
        {&tables->step, "INSERT INTO STEP_TIME VALUES (?, ?, ?)"},
        {
            &tables->operator,
            "INSERT INTO temp.operators (name, begin, end, thread) VALUES (?, ?, ?, ?)" },
        };
    enum mt_result result = MT_OK;

    for (size_t i = 0; result == MT_OK && i < sizeof(statements) / sizeof(statements[0]); i++)
        result = database_prepare(tables->writer, statements[i].sql, statements[i].out, error);
    return result;
}

/* The numbers of the driver's modules are given; others come after them. */
static enum mt_result put_module_names(struct ascend_tables *tables, struct mt_error *error)
{
    struct database_insert *insert;
    enum mt_result result =
        database_prepare(tables->writer, "INSERT INTO ENUM_MODULE VALUES (?, ?)", &insert, error);

    for (size_t i = 0; result == MT_OK && i < sizeof(module_names) / sizeof(module_names[0]); i++) {
        insert_number(insert, (int64_t)i);
        insert_text(insert, module_names[i]);
        result = database_insert_row(insert, error);
    }
    return result;
}

static enum mt_result open_database(struct ascend_tables *tables, struct mt_error *error)
{
    const struct ascend_profile *profile = &tables->profile;
    struct text_builder path;
    enum mt_result result;

    text_init(&path);
    text_add_format(&path, "%s/ascend_%s_profiler", text_get(&tables->output),
                    profile->is_mindspore ? "mindspore" : "pytorch");
    if (profile->rank >= 0)
        text_add_format(&path, "_%" PRId32, profile->rank);
    text_add(&path, ".db");
    result = database_create(text_get(&path), profile->name, schema, &tables->writer, error);
    text_release(&path);
    if (result == MT_OK)
        result = prepare_all(tables, error);
    return result == MT_OK ? put_module_names(tables, error) : result;
}

enum mt_result ascend_tables_create(const struct ascend_profile *profile,
                                    struct ascend_tables **out, struct mt_error *error)
{
    struct ascend_tables *tables = calloc(1, sizeof(*tables));
    enum mt_result result = MT_OK;

    if (!tables)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to write %s", profile->name);
    tables->profile = *profile;
    text_init(&tables->folder);
    text_init(&tables->output);
    text_add(&tables->folder, profile->folder);
    text_add_format(&tables->output, "%s/ASCEND_PROFILER_OUTPUT", profile->folder);
    if (mkdir(text_get(&tables->output), 0777) != 0)
        result = say_errno(tables, error);
    if (result == MT_OK)
        result = open_database(tables, error);
    if (result != MT_OK) {
        ascend_tables_destroy(tables);
        return result;
    }
    *out = tables;
    return MT_OK;
}

void ascend_tables_destroy(struct ascend_tables *tables)
{
    if (!tables)
        return;
    database_writer_destroy(tables->writer);
    text_release(&tables->folder);
    text_release(&tables->output);
    free(tables);
}

/* --- rows ---------------------------------------------------------------------------------- */

static void insert_cell(struct database_insert *insert, struct ascend_cell cell)
{
    if (cell.is_known)
        insert_number(insert, (int64_t)cell.number);
    else
        insert_null(insert);
}

static void insert_sums(struct database_insert *insert, const struct ascend_sums *sums)
{
    insert_cell(insert, sums->allocated);
    insert_cell(insert, sums->reserved);
    insert_cell(insert, sums->active);
}

enum mt_result ascend_put_block(struct ascend_tables *tables, const struct ascend_block *block,
                                struct mt_error *error)
{
    insert_number(tables->block, (int64_t)block->id);
    insert_number(tables->block, (int64_t)block->row);
    insert_bytes(tables->block, block->name, strlen(block->name)); /* of whatever encoding */
    insert_number(tables->block, (int64_t)block->size_bytes);
    insert_number(tables->block, (int64_t)block->born_ns);
    insert_number(tables->block, block->is_graph);
    insert_text(tables->block, block->stream);
    insert_number(tables->block, block->device);
    insert_sums(tables->block, &block->born);
    return database_insert_row(tables->block, error);
}

enum mt_result ascend_put_release(struct ascend_tables *tables, uint64_t id, uint64_t time_ns,
                                  const struct ascend_sums *sums, struct mt_error *error)
{
    insert_number(tables->release, (int64_t)id);
    insert_number(tables->release, (int64_t)time_ns);
    insert_sums(tables->release, sums);
    return database_insert_row(tables->release, error);
}

enum mt_result ascend_put_return(struct ascend_tables *tables, uint64_t id, uint64_t time_ns,
                                 struct mt_error *error)
{
    insert_number(tables->returned, (int64_t)id);
    insert_number(tables->returned, (int64_t)time_ns);
    return database_insert_row(tables->returned, error);
}

enum mt_result ascend_put_record(struct ascend_tables *tables, const struct ascend_record *record,
                                 struct mt_error *error)
{
    insert_text(tables->record, record->component);
    insert_number(tables->record, (int64_t)record->time_ns);
    insert_sums(tables->record, &record->sums);
    insert_cell(tables->record, record->ddr);
    insert_cell(tables->record, record->hbm);
    insert_text(tables->record, record->stream);
    insert_number(tables->record, record->device);
    return database_insert_row(tables->record, error);
}

enum mt_result ascend_put_module(struct ascend_tables *tables, const char *module, uint64_t time_ns,
                                 uint64_t bytes, int32_t device, struct mt_error *error)
{
    insert_text(tables->module, module);
    insert_number(tables->module, (int64_t)time_ns);
    insert_number(tables->module, (int64_t)bytes);
    insert_number(tables->module, device);
    return database_insert_row(tables->module, error);
}

/* Readers match blocks with operators by times in microseconds, as doubles. Today these are a
 * quarter apart, so an operator that has no length, as in profiles, is given one. */
enum mt_result ascend_put_operator(struct ascend_tables *tables, const char *name,
                                   uint64_t begin_ns, uint64_t end_ns, uint64_t thread_id,
                                   struct mt_error *error)
{
    enum { margin_ns = 250 };
    uint64_t margin = end_ns == begin_ns && begin_ns >= margin_ns ? margin_ns : 0;

    insert_bytes(tables->operator, name, strlen(name));
    insert_number(tables->operator, (int64_t)(begin_ns - margin));
    insert_number(tables->operator, (int64_t)(end_ns + margin));
    insert_number(
        tables->operator, (int64_t)(tables->profile.process_id << 32 | (thread_id & UINT32_MAX)));
    return database_insert_row(tables->operator, error);
}

/* A call around those in it, too: so msprof-analyze finds the operators of a step. */
enum mt_result ascend_put_step(struct ascend_tables *tables, uint64_t number, uint64_t begin_ns,
                               uint64_t end_ns, struct mt_error *error)
{
    char name[PROFILER_STEP_MOST];
    enum mt_result result;

    insert_number(tables->step, (int64_t)number);
    insert_number(tables->step, (int64_t)begin_ns);
    insert_number(tables->step, (int64_t)end_ns);
    result = database_insert_row(tables->step, error);
    snprintf(name, sizeof(name), MT_PROFILER_STEP "%" PRIu64, number);
    if (result != MT_OK)
        return result;
    return ascend_put_operator(tables, name, begin_ns, end_ns, tables->profile.process_id, error);
}

/* --- the end ------------------------------------------------------------------------------- */

/* What tools want to know of the run before they read on. */
static enum mt_result write_info(const struct ascend_tables *tables, struct mt_error *error)
{
    const struct ascend_profile *profile = &tables->profile;
    struct text_builder path;
    FILE *file;
    struct outlet *out;
    bool is_written;

    text_init(&path);
    text_add_format(&path, "%s/profiler_info", text_get(&tables->folder));
    if (profile->rank >= 0)
        text_add_format(&path, "_%" PRId32, profile->rank);
    text_add(&path, ".json");
    file = fopen(text_get(&path), "w");
    text_release(&path);
    if (!file)
        return say_errno(tables, error);
    out = outlet_create(FOR_JSON, file);
    outlet_format(
        out,
        "{\n    %s: {\n        \"common_config\": {\n            \"activities\": [],\n"
        "            \"profile_memory\": true\n        },\n"
        "        \"experimental_config\": {\n            \"_export_type\": [\"text\", \"db\"]\n"
        "        }\n    },\n",
        profile->is_mindspore ? "profiler_parameters" : "config");
    if (profile->is_mindspore)
        outlet_add(out, "    \"ms_profiler_info\": {},\n");
    outlet_format(
        out,
        "    \"start_info\": {\n        \"syscnt_enable\": false,\n        \"freq\": 1000,\n"
        "        \"start_cnt\": 0,\n        \"start_monotonic\": %" PRIu64 "\n    },\n"
        "    \"end_info\": {\n        \"collectionTimeEnd\": %" PRIu64 ",\n"
        "        \"MonotonicTimeEnd\": %" PRIu64 "\n    }",
        profile->first_ns, profile->last_ns, profile->last_ns);
    if (profile->rank >= 0)
        outlet_format(out, ",\n    \"rank_id\": %" PRId32, profile->rank);
    outlet_add(out, "\n}\n");
    is_written = outlet_destroy(out);
    return (fclose(file) == 0 && is_written) ? MT_OK : say_errno(tables, error);
}

static enum mt_result put_context(struct ascend_tables *tables, struct mt_error *error)
{
    const struct ascend_profile *profile = &tables->profile;
    char sql[sql_most_bytes];
    enum mt_result result;

    snprintf(sql, sizeof(sql),
             "INSERT INTO SESSION_TIME_INFO VALUES (%" PRIu64 ", %" PRIu64 ");"
             "INSERT INTO HOST_INFO VALUES ('', '')",
             profile->first_ns, profile->last_ns);
    result = database_run(tables->writer, sql, error);
    if (result != MT_OK || profile->rank < 0)
        return result;
    snprintf(sql, sizeof(sql),
             "INSERT INTO RANK_DEVICE_MAP SELECT %" PRId32 ", device FROM "
             "(SELECT device FROM blocks UNION SELECT device FROM records) WHERE device >= 0",
             profile->rank);
    return database_run(tables->writer, sql, error);
}

enum mt_result ascend_tables_finish(struct ascend_tables *tables, struct mt_error *error)
{
    enum mt_result result = database_run(tables->writer, fill, error);

    if (result == MT_OK)
        result = put_context(tables, error);
    if (result == MT_OK)
        result = ascend_csv_write(tables->writer, text_get(&tables->output), tables->profile.name,
                                  tables->profile.is_mindspore, error);
    if (result == MT_OK)
        result = ascend_trace_view_write(tables->writer, text_get(&tables->output),
                                         tables->profile.name, tables->profile.process_id, error);
    if (result == MT_OK)
        result = database_finish(tables->writer, "", error);
    return result == MT_OK ? write_info(tables, error) : result;
}
