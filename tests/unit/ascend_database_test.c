/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Databases of every schema come out as the same rows, and stay as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "input.h"
#include "temporary_folder.h"

#define WORDS                                                                                      \
    "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);"                                \
    "INSERT INTO STRING_IDS VALUES (1, 'aten::mm'), (2, 'Conv'), (3, 'PTA'), (4, 'GE'), "          \
    "(5, 'app'), (6, 'allocate'), (7, 'release'), (8, 'MindSpore'), (9, 'WORKSPACE');"
#define ENUM_WORDS                                                                                 \
    "CREATE TABLE ENUM_MEMORY (id INTEGER PRIMARY KEY, name TEXT);"                                \
    "INSERT INTO ENUM_MEMORY VALUES (0, 'app'), (1, 'device'), (5, 'allocate'), (6, 'release');"
#define OP_MEMORY                                                                                  \
    "CREATE TABLE OP_MEMORY (name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime "     \
    "INTEGER, activeReleaseTime INTEGER, duration INTEGER, activeDuration INTEGER, "               \
    "allocationTotalAllocated INTEGER, allocationTotalReserved INTEGER, allocationTotalActive "    \
    "INTEGER, releaseTotalAllocated INTEGER, releaseTotalReserved INTEGER, releaseTotalActive "    \
    "INTEGER, streamPtr INTEGER, deviceId INTEGER);"
#define MSTX_EVENTS                                                                                \
    "CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId "        \
    "INTEGER, category INTEGER, message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, "        \
    "domainId INTEGER, connectionId INTEGER);"

struct database_case {
    const char *name, *file, *sql, *out;
};

static const struct database_case cases[] = {
    {"framework and graph engine in OP_MEMORY", "ascend_pytorch_profiler_3.db",
     WORDS OP_MEMORY
     "INSERT INTO OP_MEMORY VALUES "
     "(1, 512, 1000, 3000, 2900, 2000, 1900, 1512, 4096, 1512, 1000, 4096, 1000, 2, 5),"
     "(1, 100, 2000, NULL, NULL, NULL, NULL, 1612, 4096, 1612, NULL, NULL, NULL, 2, 5),"
     "(2, 64, 1500, 1500, NULL, 0, NULL, 64, 4096, NULL, 0, 0, NULL, NULL, 5)",
     "rank 3 PTA older blocks=1000@0 pta+aten::mm:512@0 PTA allocated=1512@0 PTA reserved=4096@0 "
     "PTA active=1512@0 GE older blocks=0@500 ge+cann::Conv:64@500 GE allocated=64@500 GE "
     "reserved=4096@500 pta+aten::mm:100@1000 PTA allocated=1612@1000 PTA reserved=4096@1000 PTA "
     "active=1612@1000 pta-512@2000 pta-100@2000 PTA older blocks=900@2000 PTA "
     "allocated=1000@2000 "},
    {"an extension of its own, tables and columns that nobody knows", "renamed.dat",
     WORDS OP_MEMORY "ALTER TABLE OP_MEMORY ADD COLUMN depth INTEGER;"
                     "CREATE TABLE memory_block (x); CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, "
                     "deviceId INTEGER); INSERT INTO RANK_DEVICE_MAP VALUES (7, 5);"
                     "INSERT INTO OP_MEMORY (name, size, allocationTime, deviceId, streamPtr) "
                     "VALUES (1, 8, 1000, 5, 0)",
     "rank 7 pta+aten::mm:8@0 "},
    {"msprof with ENUM_MEMORY", "msprof_20260101000000.db",
     WORDS ENUM_WORDS
     "CREATE TABLE NPU_OP_MEM (operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER, "
     "timestampNs INTEGER, globalTid INTEGER, totalAllocate NUMERIC, totalReserve NUMERIC, "
     "component INTEGER, deviceId INTEGER);"
     "INSERT INTO NPU_OP_MEM VALUES (2, 10, 5, 1, 111, 0, 1, 8, 4, 0), "
     "(2, 10, 6, 1, 112, 0, 0, 8, 4, 0), (2, 10, 5, 1, 113, 0, 1, 8, 4, 0), "
     "(2, 20, 6, 9, 113, 0, 1, 8, 4, 0);"
     "CREATE TABLE NPU_MEM (type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId "
     "INTEGER); INSERT INTO NPU_MEM VALUES (0, 1, 2, 111, 0), (1, 3, 4, 111, 0);",
     "rank -1 GE older blocks=0@0 ge+Conv:1@0 GE allocated=1@0 GE reserved=8@0 APP reserved=3@0 "
     "APP ddr=1@0 APP hbm=2@0 Device reserved=7@0 Device ddr=3@0 Device hbm=4@0 ge-1@1 "
     "ge+Conv:1@2 GE allocated=1@2 GE reserved=8@2 "},
    {"msprof with STRING_IDS", "msprof_20260101000000.db",
     WORDS "CREATE TABLE NPU_OP_MEM (operatorName INTEGER, addr INTEGER, type INTEGER, size "
           "INTEGER, timestampNs INTEGER, globalTid INTEGER, totalAllocate NUMERIC, totalReserve "
           "NUMERIC, component INTEGER, deviceId INTEGER);"
           "INSERT INTO NPU_OP_MEM VALUES (2, 10, 6, 1, 111, 0, 1, 8, 4, 0), "
           "(2, 10, 7, 1, 112, 0, 0, 8, 4, 0)",
     "rank -1 GE older blocks=0@0 ge+Conv:1@0 GE allocated=1@0 GE reserved=8@0 ge-1@1 "},
    {"modules with and without a name, and one that only showed frees",
     "ascend_pytorch_profiler.db",
     "CREATE TABLE ENUM_MODULE (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO ENUM_MODULE VALUES "
     "(3, 'HCCL'); CREATE TABLE NPU_MODULE_MEM (moduleId INTEGER, timestampNs INTEGER, "
     "totalReserved NUMERIC, deviceId INTEGER); INSERT INTO NPU_MODULE_MEM VALUES "
     "(78, 6, 5, 0), (3, 5, 4096, 0), (3, 7, -1, 0)",
     "rank -1 module HCCL reserved=4096@0 module 78 reserved=5@1 "},
    {"MindSpore, with records, a workspace and steps", "ascend_mindspore_profiler_0.db",
     WORDS OP_MEMORY
     "CREATE TABLE MEMORY_RECORD (component INTEGER, timestamp INTEGER, totalAllocated INTEGER, "
     "totalReserved INTEGER, streamPtr INTEGER, deviceId INTEGER);"
     "INSERT INTO MEMORY_RECORD VALUES (8, 1000, 5, 6, 0, 0), (9, 2000, 7, 8, 0, 0);"
     "INSERT INTO OP_MEMORY (name, size, allocationTime, streamPtr, deviceId) VALUES (1, 8, 1000, "
     "0, 0), "
     "(1, 7, 2000, 0, 0); CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);"
     "INSERT INTO STEP_TIME VALUES (5, 900, 3000);",
     "rank 0 [5@0 mindspore+aten::mm:8@100 MindSpore reserved=6@100 MindSpore allocated=5@100 "
     "pta_workspace+aten::mm:7@1100 WORKSPACE reserved=8@1100 WORKSPACE allocated=7@1100 "
     "]5@2100 "},
    {"steps in ranges of mstx", "ascend_pytorch_profiler_0.db",
     WORDS OP_MEMORY MSTX_EVENTS
     "INSERT INTO OP_MEMORY (name, size, allocationTime, streamPtr, deviceId) VALUES (1, 8, 1000, "
     "0, 0);"
     "INSERT INTO STRING_IDS VALUES (20, 'step 4'), (21, 'load'), (22, 'step 5');"
     "INSERT INTO MSTX_EVENTS (startNs, endNs, eventType, message) VALUES"
     " (1500, 1600, 2, 22), (950, 1400, 2, 20), (960, 970, 2, 21), (1700, 1700, 3, 20);",
     "rank 0 [4@0 pta+aten::mm:8@50 ]4@450 [5@550 ]5@650 "},
    {"STEP_TIME is better than ranges of mstx", "ascend_pytorch_profiler_0.db",
     WORDS OP_MEMORY MSTX_EVENTS
     "INSERT INTO OP_MEMORY (name, size, allocationTime, streamPtr, deviceId) VALUES (1, 8, 1000, "
     "0, 0);"
     "INSERT INTO STRING_IDS VALUES (20, 'step 4');"
     "INSERT INTO MSTX_EVENTS (startNs, endNs, eventType, message) VALUES (950, 1400, 2, 20);"
     "CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);"
     "INSERT INTO STEP_TIME VALUES (9, 900, 3000);",
     "rank 0 [9@0 pta+aten::mm:8@100 ]9@2100 "},
};

static void event_print(char *to, const struct model *model, const struct event *event,
                        const char *operator_name)
{
    const char *pool = model_text_at(model, model_pool_name_at(model, event->pool));
    bool is_step = event->kind == EVENT_STEP_BEGIN || event->kind == EVENT_STEP_END;

    to += strlen(to);
    if (event->kind == EVENT_ALLOC)
        to += sprintf(to, "%s+%s:%" PRIu64, pool, operator_name, event->value);
    else if (event->kind == EVENT_FREE)
        to += sprintf(to, "%s-%" PRIu64, pool, event->value);
    else if (event->kind == EVENT_SAMPLE)
        to += sprintf(to, "%s=%" PRIu64, model_text_at(model, event->text), event->value);
    else if (is_step)
        to += sprintf(to, "%c%" PRIu64, event->kind == EVENT_STEP_BEGIN ? '[' : ']', event->value);
    else
        return;
    sprintf(to, "@%" PRIu64 " ", event->time_ns);
}

static void read_path(const char *path, char *out)
{
    struct model *model;
    struct input *input;
    struct event events[7];
    size_t count = 1;
    struct mt_error error = {.message = ""};
    const char *operator_name = "";

    assert_int_equal(model_create(&model, NULL), MT_OK);
    if (input_open(path, model, &input, &error) != MT_OK)
        fail_msg("%s", error.message);
    sprintf(out, "rank %d ", model_process_at(model, 0)->rank);
    while (count) {
        if (input_next(input, events, 7, &count, &error) != MT_OK)
            fail_msg("%s", error.message);
        for (size_t i = 0; i < count; i++) {
            if (events[i].kind == EVENT_OPERATOR_BEGIN)
                operator_name = model_text_at(model, events[i].text);
            event_print(out, model, &events[i], operator_name);
        }
    }
    input_close(input);
    model_destroy(model);
}

static char *make_database(const char *folder, const char *name, const char *sql)
{
    char *path = temporary_file_write(folder, name, "", 0);
    sqlite3 *handle;
    char *trouble = NULL;

    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    if (sqlite3_exec(handle, sql, NULL, NULL, &trouble) != SQLITE_OK)
        fail_msg("%s", trouble);
    sqlite3_close(handle);
    return path;
}

static unsigned count_files(const char *folder)
{
    DIR *listing = opendir(folder);
    unsigned count = 0;

    assert_non_null(listing);
    while (readdir(listing))
        count++;
    closedir(listing);
    return count;
}

static void comes_out_as_rows(void **state)
{
    const struct database_case *c = *state;
    char *folder = temporary_folder_create();
    char *path = make_database(folder, c->file, c->sql);
    static char out[4096];
    struct stat before, after;
    unsigned files = count_files(folder);

    assert_int_equal(chmod(path, 0400), 0);
    assert_int_equal(stat(path, &before), 0);
    read_path(path, out);
    assert_string_equal(out, c->out);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(count_files(folder), files);
    free(path);
    temporary_folder_remove(folder);
}

static void a_folder_with_csv_files_takes_only_steps_from_its_database(void **state)
{
    static const char csv[] = "Name,Size(B),Allocation Time(ns),Device Type\na,1,1000,NPU:0\n";
    static char out[4096];
    char *folder = temporary_folder_create();

    (void)state;
    free(make_database(folder, "ascend_pytorch_profiler_0.db", cases[5].sql));
    free(temporary_file_write(folder, "operator_memory.csv", csv, sizeof(csv) - 1));
    read_path(folder, out);
    assert_string_equal(out, "rank 0 [5@0 ge+a:1@100 ]5@2100 ");
    temporary_folder_remove(folder);
}

static void damage_in_a_database_is_an_error(void **state)
{
    char *folder = temporary_folder_create();
    char *path = make_database(folder, "ascend_pytorch_profiler.db", cases[0].sql);
    FILE *file = fopen(path, "r+b");
    struct model *model;
    struct input *input;
    struct mt_error error = {.message = ""};

    (void)state;
    assert_non_null(file);
    fseek(file, 4096, SEEK_SET);
    for (int i = 0; i < 8192; i++)
        fputc(0x5a, file);
    fclose(file);
    assert_int_equal(model_create(&model, NULL), MT_OK);
    assert_int_equal(input_open(folder, model, &input, &error), MT_CORRUPT);
    assert_non_null(strstr(error.message, "ascend_pytorch_profiler.db"));
    model_destroy(model);
    free(path);
    temporary_folder_remove(folder);
}

int main(void)
{
    enum { case_count = sizeof(cases) / sizeof(cases[0]) };
    struct CMUnitTest tests[case_count + 2] = {
        cmocka_unit_test(a_folder_with_csv_files_takes_only_steps_from_its_database),
        cmocka_unit_test(damage_in_a_database_is_an_error),
    };

    for (size_t i = 0; i < case_count; i++)
        tests[i + 2] = (struct CMUnitTest){.name = cases[i].name,
                                           .test_func = comes_out_as_rows,
                                           .initial_state = (void *)&cases[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
