/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as files of Parquet: what is written is read, and what is damaged is refused. That other
 * programs read the same is tests/integration/summaries_test.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "parquet.h"
#include "parquet_runs.h"
#include "temporary_folder.h"
#include "text_builder.h"

struct fixture {
    char *folder;
    char path[512];
    struct parquet_reader *reader;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    f->folder = temporary_folder_create();
    snprintf(f->path, sizeof(f->path), "%s/table.parquet", f->folder);
    assert_int_equal(parquet_reader_create(&f->reader, NULL), MT_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    parquet_reader_destroy(f->reader);
    temporary_folder_remove(f->folder);
    free(f);
    return 0;
}

static const char *name_of(void *context, int64_t number)
{
    static const char *const names[] = {"", "train", "αβγ\\n",
                                        "a longer name of a site (train.py:25)"};

    (void)context;
    return names[number];
}

/* A required number, an optional number and an optional text. */
static enum mt_result write_rows(const char *path, size_t count, int64_t *numbers, uint8_t *known)
{
    int64_t *texts = calloc(count + 1, sizeof(*texts));
    const struct parquet_column columns[] = {
        {"step", PARQUET_INTEGER, false, numbers, NULL},
        {"bytes", PARQUET_INTEGER, true, numbers, known},
        {"site", PARQUET_TEXT, true, texts, known},
    };
    const struct parquet_property property = {"version", "1"};
    enum mt_result result;

    assert_non_null(texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = (int64_t)(i % 4);
    result = parquet_write(path,
                           &(struct parquet_table){.columns = columns,
                                                   .column_count = 3,
                                                   .row_count = count,
                                                   .text_at = name_of,
                                                   .properties = &property,
                                                   .property_count = 1},
                           NULL);
    free(texts);
    return result;
}

static void fill(int64_t *numbers, uint8_t *known, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        numbers[i] = (int64_t)(i * UINT64_C(0x9e3779b97f4a7c15));
        known[i] = i % 3 != 1;
    }
}

static size_t column_of(const struct fixture *f, const char *name, enum parquet_kind wanted)
{
    enum parquet_kind kind;
    size_t index = parquet_reader_column(f->reader, name, &kind);

    assert_int_not_equal(index, SIZE_MAX);
    assert_int_equal(kind, wanted);
    return index;
}

static void read_and_compare(const struct fixture *f, const int64_t *numbers, const uint8_t *known,
                             size_t count)
{
    size_t first = 0;

    assert_int_equal(parquet_reader_open(f->reader, f->path, NULL), MT_OK);
    assert_string_equal(parquet_reader_property(f->reader, "version"), "1");
    assert_null(parquet_reader_property(f->reader, "other"));
    for (size_t group = 0; group < parquet_reader_group_count(f->reader); group++) {
        size_t rows = parquet_reader_group_rows(f->reader, group);
        struct parquet_values values;

        assert_int_equal(parquet_reader_read(f->reader, group,
                                             column_of(f, "step", PARQUET_INTEGER), &values, NULL),
                         MT_OK);
        assert_int_equal(values.count, rows);
        assert_memory_equal(values.numbers, numbers + first, rows * sizeof(*numbers));
        assert_int_equal(parquet_reader_read(f->reader, group,
                                             column_of(f, "bytes", PARQUET_INTEGER), &values, NULL),
                         MT_OK);
        for (size_t i = 0; i < rows; i++) {
            assert_int_equal(values.known[i], known[first + i]);
            assert_int_equal(values.numbers[i], known[first + i] ? numbers[first + i] : 0);
        }
        assert_int_equal(parquet_reader_read(f->reader, group, column_of(f, "site", PARQUET_TEXT),
                                             &values, NULL),
                         MT_OK);
        for (size_t i = 0; i < rows; i++) {
            const char *name = known[first + i] ? name_of(NULL, (int64_t)((first + i) % 4)) : "";

            assert_int_equal(values.texts[i].size_bytes, strlen(name));
            assert_memory_equal(values.bytes + values.texts[i].offset, name, strlen(name));
        }
        first += rows;
    }
    assert_int_equal(first, count);
}

static void what_is_written_is_read(void **state)
{
    static const size_t counts[] = {
        0, 1, 7, 8, 9, 40000, PARQUET_GROUP_ROWS, PARQUET_GROUP_ROWS + 1};
    const struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        int64_t *numbers = calloc(counts[i] + 1, sizeof(*numbers));
        uint8_t *known = calloc(counts[i] + 1, 1);

        assert_non_null(numbers);
        assert_non_null(known);
        fill(numbers, known, counts[i]);
        assert_int_equal(write_rows(f->path, counts[i], numbers, known), MT_OK);
        read_and_compare(f, numbers, known, counts[i]);
        assert_int_equal(unlink(f->path), 0);
        memset(known, 0, counts[i]); /* none is there */
        assert_int_equal(write_rows(f->path, counts[i], numbers, known), MT_OK);
        read_and_compare(f, numbers, known, counts[i]);
        assert_int_equal(unlink(f->path), 0);
        free(numbers);
        free(known);
    }
}

static void a_file_that_is_there_is_not_replaced(void **state)
{
    const struct fixture *f = *state;
    int64_t number = 1;
    uint8_t known = 1;

    assert_int_equal(write_rows(f->path, 1, &number, &known), MT_OK);
    assert_int_equal(write_rows(f->path, 1, &number, &known), MT_IO);
}

/* --- damage ----------------------------------------------------------------------------------- */

static void put_file(const char *path, const void *bytes, size_t size_bytes)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size_bytes, file), size_bytes);
    assert_int_equal(fclose(file), 0);
}

/* Every column of every group, as far as the file lets. */
static enum mt_result read_whole(const struct fixture *f)
{
    static const char *const names[] = {"step", "bytes", "site"};
    enum mt_result result = parquet_reader_open(f->reader, f->path, NULL);

    for (size_t group = 0; result == MT_OK && group < parquet_reader_group_count(f->reader);
         group++)
        for (size_t i = 0; result == MT_OK && i < 3; i++) {
            enum parquet_kind kind;
            size_t index = parquet_reader_column(f->reader, names[i], &kind);
            struct parquet_values values;

            result = index == SIZE_MAX
                         ? MT_CORRUPT
                         : parquet_reader_read(f->reader, group, index, &values, NULL);
        }
    return result;
}

static void a_cut_or_damaged_file_is_refused_or_read(void **state)
{
    const struct fixture *f = *state;
    int64_t numbers[20];
    uint8_t known[20];
    unsigned char bytes[4096];
    size_t size_bytes, refused = 0;
    FILE *file;

    fill(numbers, known, 20);
    assert_int_equal(write_rows(f->path, 20, numbers, known), MT_OK);
    file = fopen(f->path, "rb");
    assert_non_null(file);
    size_bytes = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    assert_in_range(size_bytes, 200, 4000);
    for (size_t cut = 0; cut < size_bytes; cut++) {
        put_file(f->path, bytes, cut);
        assert_int_equal(read_whole(f), MT_CORRUPT);
    }
    for (size_t i = 0; i < size_bytes; i++) {
        bytes[i] ^= (unsigned char)(1 << i % 8);
        put_file(f->path, bytes, size_bytes);
        refused += read_whole(f) != MT_OK;
        bytes[i] ^= (unsigned char)(1 << i % 8);
    }
    assert_in_range(refused, size_bytes / 4, size_bytes);
    put_file(f->path, bytes, size_bytes);
    assert_int_equal(read_whole(f), MT_OK);
}

static void what_is_no_file_is_said(void **state)
{
    const struct fixture *f = *state;

    assert_int_equal(parquet_reader_open(f->reader, f->path, NULL), MT_NOT_FOUND);
    assert_int_equal(parquet_reader_open(f->reader, f->folder, NULL), MT_IO);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void runs_of_both_kinds_are_read(void **state)
{
    /* 5 times 3, then eight packed numbers of 3 bits: 0 .. 7, of which the last two are not wanted.
     */
    static const unsigned char bytes[] = {5 << 1, 3, 1 << 1 | 1, 0x88, 0xc6, 0xfa};
    static const uint32_t wanted[] = {3, 3, 3, 3, 3, 0, 1, 2, 3, 4, 5};
    uint32_t values[11];

    (void)state;
    assert_true(parquet_runs_get(bytes, sizeof(bytes), 3, values, 11));
    assert_memory_equal(values, wanted, sizeof(wanted));
    assert_false(parquet_runs_get(bytes, 2, 3, values, 11));
    assert_false(parquet_runs_get((const unsigned char *)"\0\0", 2, 3, values, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_is_there_is_not_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_or_damaged_file_is_refused_or_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_said, set_up, tear_down),
        cmocka_unit_test(runs_of_both_kinds_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
