/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows come out of a csv file whole, whatever line ends, quotes and buffer edges there are.
 */
#define _GNU_SOURCE /* memfd_create */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "csv_reader.h"
#include "temporary_folder.h"

/* Fields of all rows, each followed by '|', each row by the line and ';'. */
struct read_case {
    const char *name, *text, *rows;
    size_t wanted;
};

static const struct read_case cases[] = {
    {"LF", "a,b\nc,d\n", "a|b|1;c|d|2;", 9},
    {"CRLF and LF mixed", "a,b\r\nc,d\n", "a|b|1;c|d|2;", 9},
    {"no line end at the end", "a,b\nc,d", "a|b|1;c|d|2cut;", 9},
    {"byte order mark",
     "\xef\xbb\xbf"
     "a,b\n",
     "a|b|1;", 9},
    {"empty lines", "a\n\n\r\nb\n", "a|1;b|4;", 9},
    {"empty fields", ",,a\n", "||a|1;", 9},
    {"rows of nothing", "a,b\n,,\r\n \t\n\r\r\nb,c\r\r\n , ", "a|b|1;b|c|5;", 9},
    {"commas in quotes", "\"a,b\",c\n", "a,b|c|1;", 9},
    {"doubled quotes", "\"x(\"\"y\"\")\",c\n", "x(\"y\")|c|1;", 9},
    {"tripled quotes", "\"\"\"1,2;3\"\"\",c\n", "\"1,2;3\"|c|1;", 9},
    {"a line end in quotes", "\"a\nb\",c\nd,e\n", "a\nb|c|1;d|e|3;", 9},
    {"a quote within a field", "a\"b,c\n", "a\"b|c|1;", 9},
    {"a quote that never closes", "\"a,b\nc", "a,b\nc|1cut;", 9},
    {"text after a closing quote", "\"a\"b,c\n", "ab|c|1;", 9},
    {"few columns wanted", "a,b,c,d\n\"e\",f,g,h\n", "a|b|1;e|f|2;", 2},
    {"bytes of any encoding", "\xb0\xa1,\xff\n", "\xb0\xa1|\xff|1;", 9},
    {"nothing", "", "", 9},
};

static void append_row(char *out, const struct csv_row *row, size_t wanted)
{
    for (size_t i = 0; i < row->column_count && i < wanted; i++)
        sprintf(out + strlen(out), "%.*s|", (int)row->fields[i].size_bytes, row->fields[i].bytes);
    sprintf(out + strlen(out), "%llu%s;", (unsigned long long)row->line, row->is_cut ? "cut" : "");
}

static void reads_rows(void **state)
{
    const struct read_case *c = *state;
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "rows.csv", c->text, strlen(c->text));
    int descriptor = open(path, O_RDONLY);
    struct csv_reader reader;
    struct csv_row row;
    char out[256] = "";
    bool has_row = true;

    assert_int_equal(csv_reader_init(&reader, descriptor, 0, NULL), MT_OK);
    while (has_row) {
        assert_int_equal(csv_reader_next(&reader, c->wanted, &row, &has_row, NULL), MT_OK);
        if (has_row)
            append_row(out, &row, c->wanted);
    }
    assert_string_equal(out, c->rows);
    csv_reader_release(&reader);
    close(descriptor);
    free(path);
    temporary_folder_remove(folder);
}

static void counts_columns_that_are_not_wanted(void **state)
{
    char *folder = temporary_folder_create();
    char *path = temporary_file_write(folder, "rows.csv", "a,b,c\n\"d,\",e,f,g\n", 17);
    int descriptor = open(path, O_RDONLY);
    struct csv_reader reader;
    struct csv_row row;
    bool has_row;

    (void)state;
    assert_int_equal(csv_reader_init(&reader, descriptor, 0, NULL), MT_OK);
    assert_int_equal(csv_reader_next(&reader, 1, &row, &has_row, NULL), MT_OK);
    assert_int_equal(row.column_count, 3);
    assert_int_equal(csv_reader_next(&reader, 1, &row, &has_row, NULL), MT_OK);
    assert_int_equal(row.column_count, 4);
    csv_reader_release(&reader);
    close(descriptor);
    free(path);
    temporary_folder_remove(folder);
}

/* Quotes and line ends meet the edge of the buffer at every offset. */
static void rows_cross_the_edge_of_the_buffer(void **state)
{
    char *folder = temporary_folder_create();
    static char text[64 * 1024];
    size_t length = 0;
    char *path;
    int descriptor;
    struct csv_reader reader;
    struct csv_row row;
    bool has_row;
    char want[512];

    (void)state;
    for (int i = 0; i < 300; i++)
        length += (size_t)sprintf(text + length, "%d,\"%*s\"\"\n\",z\r\n", i, i % 97, "");
    path = temporary_file_write(folder, "rows.csv", text, length);
    descriptor = open(path, O_RDONLY);
    assert_int_equal(csv_reader_init(&reader, descriptor, 0, NULL), MT_OK);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(csv_reader_next(&reader, 9, &row, &has_row, NULL), MT_OK);
        assert_true(has_row);
        assert_int_equal(row.column_count, 3);
        sprintf(want, "%*s\"\n", i % 97, "");
        assert_int_equal(row.fields[1].size_bytes, strlen(want));
        assert_memory_equal(row.fields[1].bytes, want, strlen(want));
        assert_int_equal(row.line, 2 * i + 1);
    }
    assert_int_equal(csv_reader_next(&reader, 9, &row, &has_row, NULL), MT_OK);
    assert_false(has_row);
    csv_reader_release(&reader);
    close(descriptor);
    free(path);
    temporary_folder_remove(folder);
}

/* Rows of a text, as append_row() writes them; with an empty buffer, each is read the careful way.
 */
static void rows_of(int descriptor, size_t wanted, bool is_buffer_empty, char *out)
{
    struct csv_reader reader;
    struct csv_row row;
    bool has_row = true;

    out[0] = '\0';
    assert_int_equal(csv_reader_init(&reader, descriptor, 0, NULL), MT_OK);
    while (has_row) {
        if (is_buffer_empty)
            csv_reader_seek(&reader, reader.offset_bytes, UINT64_MAX, reader.line);
        assert_int_equal(csv_reader_next(&reader, wanted, &row, &has_row, NULL), MT_OK);
        if (has_row)
            append_row(out, &row, wanted);
    }
    csv_reader_release(&reader);
}

/* Both ways of reading a row say the same about all that six bytes can be. */
static void the_quick_way_reads_as_the_careful_one(void **state)
{
    static const char bytes[] = "a,\"\n\r";
    enum { pattern_count = 5 * 5 * 5 * 5 * 5 * 5 };

    (void)state;
    for (unsigned pattern = 0; pattern < pattern_count; pattern++) {
        int descriptor = memfd_create("rows", MFD_CLOEXEC);
        char text[] = "b,c\n______\n1,2\n", quick[256], careful[256];

        for (unsigned i = 0, left = pattern; i < 6; i++, left /= 5)
            text[4 + i] = bytes[left % 5];
        assert_int_equal(write(descriptor, text, sizeof(text) - 1), sizeof(text) - 1);
        for (size_t wanted = 1; wanted < 4; wanted++) {
            rows_of(descriptor, wanted, false, quick);
            rows_of(descriptor, wanted, true, careful);
            assert_string_equal(quick, careful);
        }
        close(descriptor);
    }
}

/* Of the longest row there may be, made of these bytes again and again. Deeply nested JSON is a row
 * of quotes. */
static const char *const endless_rows[] = {"x", "{\"a\":[", "\"\",", "\"\"", "a\","};

static void refuses_a_row_without_end(void **state)
{
    /* It takes tens of milliseconds; with a look at all that is left for each quote, minutes. */
    enum { second_most = 5 };
    const char *bytes = *state;
    char *folder = temporary_folder_create();
    size_t size_bytes = CSV_ROW_MAX_BYTES + 4096;
    char *text = calloc(1, size_bytes);
    clock_t begin = clock();
    char *path;
    int descriptor;
    struct csv_reader reader;
    struct csv_row row;
    struct mt_error error;
    bool has_row;

    for (size_t i = 0; i < size_bytes; i++)
        text[i] = bytes[i % strlen(bytes)];
    path = temporary_file_write(folder, "rows.csv", text, size_bytes);
    descriptor = open(path, O_RDONLY);
    assert_int_equal(csv_reader_init(&reader, descriptor, 0, NULL), MT_OK);
    assert_int_equal(csv_reader_next(&reader, 9, &row, &has_row, &error), MT_CORRUPT);
    assert_non_null(strstr(error.message, "line 1"));
    assert_true(clock() - begin < second_most * CLOCKS_PER_SEC);
    csv_reader_release(&reader);
    close(descriptor);
    free(path);
    free(text);
    temporary_folder_remove(folder);
}

int main(void)
{
    enum {
        case_count = sizeof(cases) / sizeof(cases[0]),
        endless_count = sizeof(endless_rows) / sizeof(endless_rows[0])
    };
    struct CMUnitTest tests[case_count + endless_count + 3] = {
        cmocka_unit_test(counts_columns_that_are_not_wanted),
        cmocka_unit_test(rows_cross_the_edge_of_the_buffer),
        cmocka_unit_test(the_quick_way_reads_as_the_careful_one),
    };

    for (size_t i = 0; i < case_count; i++)
        tests[i + 3] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = reads_rows, .initial_state = (void *)&cases[i]};
    for (size_t i = 0; i < endless_count; i++)
        tests[case_count + 3 + i] = (struct CMUnitTest){.name = endless_rows[i],
                                                        .test_func = refuses_a_row_without_end,
                                                        .initial_state = (void *)endless_rows[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
