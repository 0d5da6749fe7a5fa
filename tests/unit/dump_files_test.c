/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What msleaks and msmemscope say of their own files, and what we say: leaks between marks, blocks
 * used badly. Strictly compatible answers are those of the tool, byte for byte.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dump_inefficient.h"
#include "dump_leaks.h"
#include "python_number.h"
#include "temporary_folder.h"

static const char reference[] = MT_REFERENCE_DATA;

/* The bytes of a file, terminated; to be freed. */
static char *contents_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = calloc(1, 1 << 20);

    assert_non_null(file);
    assert_non_null(bytes);
    assert_true(fread(bytes, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return bytes;
}

/* A path in the reference recordings; skips the test where they are not. To be freed. */
static char *reference_path(const char *name)
{
    char *path = NULL;

    if (!reference[0])
        skip();
    assert_true(asprintf(&path, "%s/memscope/%s", reference, name) > 0);
    return path;
}

#define HEADER                                                                                     \
    "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,"              \
    "Call Stack(Python),Call Stack(C)\n"
#define BLOCK(event, time, id, size)                                                               \
    time "," event ",PTA,N/A," time ",1,1,0,0x1000,\"{allocation_id:" id ",addr:0x1000,size:" size \
         ",used:0,total:0}\",,\n"
#define OPERATOR(type, time, name) time ",OP_LAUNCH,ATEN_" type "," name "," time ",1,1,0,N/A,,,\n"

static char *file_of(const char *folder, const char *name, const char *text)
{
    return temporary_file_write(folder, name, text, strlen(text));
}

/* --- leaks between marks ------------------------------------------------------------------------
 */

/* As in the golden file: a comment line before each, no mark counts as the last. */
static void leaks_between_marks_are_the_tools(void **state)
{
    static const struct {
        const char *mark;
        uint32_t start_index;
        size_t leak_count, judged_count;
    } asked[] = {{"test", 0, 2, 2}, {"test", 1, 1, 1}, {"test", 5, 0, 0}, {"absent", 0, 0, 0}};
    char *path = reference_path("generated/offline/hal_marks.csv");
    char *golden_path = reference_path("generated/offline/hal_marks.expected.txt");
    char *golden = contents_of(golden_path), *got = NULL;
    const char *rest = golden;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    (void)state;
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        struct dump_leaks leaks = {path, asked[i].mark, asked[i].start_index};
        struct dump_leaks_counts counts;

        assert_int_equal(*rest, '#');
        fwrite(rest, 1, strcspn(rest, "\n") + 1, out);
        assert_int_equal(dump_leaks_write(&leaks, out, &counts, NULL), MT_OK);
        assert_int_equal(counts.leak_count, asked[i].leak_count);
        assert_int_equal(counts.judged_device_count, asked[i].judged_count);
        rest = strstr(rest + 1, "\n# ");
        rest = rest ? rest + 1 : "";
    }
    fclose(out);
    assert_string_equal(got, golden);
    free(path);
    free(golden_path);
    free(golden);
    free(got);
}

static void numbers_are_written_as_python_does(void **state)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0, "0.0"},
        {1, "1.0"},
        {8.5, "8.5"},
        {1.0 / 2048, "0.00048828125"},
        {1.0 / (1 << 20), "9.5367431640625e-07"},
        {0.1, "0.1"},
        {1234567.0, "1234567.0"},
        {1e16, "1e+16"},
        {123456789012345.75, "123456789012345.75"},
        {0.0001, "0.0001"},
        {100.0 / (1 << 20), "9.5367431640625e-05"},
    };
    char text[PYTHON_NUMBER_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        python_number(cases[i].number, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* --- blocks used badly --------------------------------------------------------------------------
 */

static char *mark_file(const char *path, bool is_strict, struct dump_inefficient_counts *counts)
{
    struct dump_inefficient_search search = {
        .path = path, .idle_threshold = 3000, .is_strict = is_strict};
    char *said = NULL;
    size_t size;
    FILE *out = open_memstream(&said, &size);

    assert_int_equal(dump_inefficient_mark(&search, out, counts, NULL), MT_OK);
    fclose(out);
    return said;
}

static void badly_used_blocks_are_the_tools(void **state)
{
    char *source = reference_path("generated/offline/inefficient_in.csv");
    char *golden_path = reference_path("generated/offline/inefficient_out.csv");
    char *text = contents_of(source), *golden = contents_of(golden_path);
    char *folder = temporary_folder_create(), *path = file_of(folder, "in.csv", text);
    struct dump_inefficient_counts counts;
    char *said = mark_file(path, true, &counts), *got = contents_of(path);

    (void)state;
    assert_string_equal(got, golden);
    assert_int_equal(counts.block_count, 3);
    free(said);
    free(got);
    free(path);
    /* The block that the program never freed is not given back late. */
    path = file_of(folder, "in.csv", text);
    free(mark_file(path, false, &counts));
    assert_int_equal(counts.block_count, 2);
    free(path);
    free(text);
    free(source);
    free(golden);
    free(golden_path);
    temporary_folder_remove(folder);
}

static void marking_twice_changes_nothing_and_keeps_the_rest(void **state)
{
    static const char text[] = HEADER OPERATOR("START", "1", "\"f,g\"")
        BLOCK("MALLOC", "2", "7", "100") "3,ACCESS,READ,f,3,1,1,0,0x1000,\"{allocation_id:7,addr:"
                                         "0x1000,size:100,type:PTA}\",,\n" OPERATOR("END", "4", "f")
                                             BLOCK("MALLOC", "5", "8", "100")
                                                 OPERATOR("START", "6", "g")
                                                     OPERATOR("END", "7", "g")
                                                         BLOCK("FREE", "8", "7", "100");
    char *folder = temporary_folder_create(), *path = file_of(folder, "a.csv", text);
    struct dump_inefficient_counts counts;
    char *first, *second, *expected = NULL;
    const char *cut = strstr(text, "used:0,total:0}\"") + strlen("used:0,total:0");

    (void)state;
    free(mark_file(path, false, &counts));
    assert_int_equal(counts.late_count, 1);
    first = contents_of(path);
    assert_true(asprintf(&expected, "%.*s,inefficient_type:late_deallocation%s", (int)(cut - text),
                         text, cut) > 0);
    assert_string_equal(first, expected);
    free(mark_file(path, false, &counts));
    second = contents_of(path);
    assert_string_equal(second, expected);
    free(first);
    free(second);
    free(expected);
    free(path);
    temporary_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaks_between_marks_are_the_tools),
        cmocka_unit_test(numbers_are_written_as_python_does),
        cmocka_unit_test(badly_used_blocks_are_the_tools),
        cmocka_unit_test(marking_twice_changes_nothing_and_keeps_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
