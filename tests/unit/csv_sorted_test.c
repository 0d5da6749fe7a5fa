/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows come in order of time from files that are not, and what is left out is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "csv_sorted.h"
#include "temporary_folder.h"

enum { column_name, column_time, column_end };

static const struct csv_column columns[] = {
    {"Name", true}, {"Timestamp|Allocation Time", true}, {"Release Time", false}};

struct fixture {
    char *folder;
    struct csv_table tables[2];
    size_t table_count;
    struct csv_sorted sorted;
};

static void add_file(struct fixture *f, const char *name, const char *text)
{
    char *path = temporary_file_write(f->folder, name, text, strlen(text));
    struct mt_error error = {.message = ""};

    assert_int_equal(csv_table_open(&f->tables[f->table_count++], path, columns, 3, &error), MT_OK);
    free(path);
}

static struct fixture start(void)
{
    return (struct fixture){.folder = temporary_folder_create()};
}

static void finish(struct fixture *f)
{
    csv_sorted_close(&f->sorted);
    for (size_t i = 0; i < f->table_count; i++)
        csv_table_close(&f->tables[i]);
    temporary_folder_remove(f->folder);
}

static void open_sorted(struct fixture *f)
{
    assert_int_equal(
        csv_sorted_open(&f->sorted, f->tables, f->table_count, column_time, column_end, NULL),
        MT_OK);
}

/* "name@time " of all rows. */
static const char *rows_of(struct fixture *f)
{
    static char out[4096];
    const struct csv_row *row;
    struct csv_table *table;
    uint64_t time_ns;

    out[0] = '\0';
    for (;;) {
        assert_int_equal(csv_sorted_next(&f->sorted, &row, &table, &time_ns, NULL), MT_OK);
        if (!row)
            return out;
        struct csv_field name = csv_at(table, row, column_name);

        sprintf(out + strlen(out), "%.*s@%llu ", (int)name.size_bytes, name.bytes,
                (unsigned long long)time_ns);
    }
}

static void units_and_columns_come_from_the_header(void **state)
{
    struct fixture f = start();

    (void)state;
    add_file(&f, "a.csv", "allocation time(us),x(y),Name\r\n1.5,0,a\r\n2.0,0,b\r\n");
    open_sorted(&f);
    assert_string_equal(rows_of(&f), "a@1500 b@2000 ");
    assert_int_equal(f.sorted.first_ns, 1500);
    assert_int_equal(f.sorted.row_count, 2);
    finish(&f);
}

static void sorted_stretches_are_merged_and_equal_times_keep_their_order(void **state)
{
    struct fixture f = start();

    (void)state;
    add_file(&f, "a.csv", "Name,Timestamp(ns)\na,10\nb,20\nc,5\nd,20\ne,1\n");
    add_file(&f, "b.csv", "Timestamp(ns),Name\n20,f\n3,g\n");
    open_sorted(&f);
    assert_int_equal(f.sorted.run_count, 5);
    assert_string_equal(rows_of(&f), "e@1 g@3 c@5 a@10 b@20 d@20 f@20 ");
    finish(&f);
}

static void a_row_without_its_time_counts_by_the_other(void **state)
{
    struct fixture f = start();

    (void)state;
    add_file(&f, "a.csv", "Name,Timestamp(ns),Release Time(us)\na,1000,5\nb,,2\nc,3000,4\n");
    open_sorted(&f);
    assert_string_equal(rows_of(&f), "a@1000 b@2000 c@3000 ");
    finish(&f);
}

static void rows_left_out_are_counted_with_their_first_line(void **state)
{
    struct fixture f = start();
    struct csv_skips *skips;

    (void)state;
    add_file(&f, "a.csv",
             "Name,Timestamp(us)\na,1.69512E+15\nb\nName,Timestamp(us)\nc,1,2\nd,-3\ne,x\nf,7\ng");
    open_sorted(&f);
    assert_string_equal(rows_of(&f), "f@7000 ");
    skips = &f.tables[0].skips;
    assert_int_equal(skips->counts[CSV_SKIP_ROUNDED_TIME], 1);
    assert_int_equal(skips->first_lines[CSV_SKIP_ROUNDED_TIME], 2);
    assert_int_equal(skips->counts[CSV_SKIP_COLUMNS], 2);
    assert_int_equal(skips->first_lines[CSV_SKIP_COLUMNS], 3);
    assert_int_equal(skips->counts[CSV_SKIP_REPEATED_HEADER], 1);
    assert_int_equal(skips->counts[CSV_SKIP_BEFORE_START], 1);
    assert_int_equal(skips->counts[CSV_SKIP_BAD_TIME], 1);
    assert_int_equal(skips->counts[CSV_SKIP_CUT], 1);
    assert_int_equal(skips->first_lines[CSV_SKIP_CUT], 9);
    finish(&f);
}

static void a_file_in_no_order_at_all_is_sorted(void **state)
{
    struct fixture f = start();
    static char text[256 * 1024];
    size_t length = (size_t)sprintf(text, "Name,Timestamp(ns)\n");
    const struct csv_row *row;
    struct csv_table *table;
    uint64_t time_ns, previous_ns = 0;
    unsigned count = 0, seed = 7;

    (void)state;
    for (int i = 0; i < 5000; i++) {
        seed = seed * 1103515245 + 12345;
        length += (size_t)sprintf(text + length, "\"n%d\",%u\n", i, seed >> 4);
    }
    add_file(&f, "a.csv", text);
    open_sorted(&f);
    assert_true(f.sorted.run_count > CSV_RUNS_MAX);
    for (;; count++) {
        assert_int_equal(csv_sorted_next(&f.sorted, &row, &table, &time_ns, NULL), MT_OK);
        if (!row)
            break;
        assert_true(time_ns >= previous_ns);
        previous_ns = time_ns;
    }
    assert_int_equal(count, 5000);
    finish(&f);
}

struct bad_header {
    const char *text, *message;
    enum mt_result result;
};

static void a_file_without_header_is_refused(void **state)
{
    static const struct bad_header headers[] = {
        {"", "the file is empty", MT_NO_DATA},
        {",,\n \n", "the file is empty", MT_NO_DATA},
        {"Name,Time\n", "no column \"Timestamp|Allocation Time\"", MT_CORRUPT},
        {"\xef\xbb\xbf\n", "the file is empty", MT_NO_DATA},
    };
    char *folder = temporary_folder_create();

    (void)state;
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        char *path =
            temporary_file_write(folder, "a.csv", headers[i].text, strlen(headers[i].text));
        struct csv_table table;
        struct mt_error error = {.message = ""};
        enum mt_result result = csv_table_open(&table, path, columns, 3, &error);

        assert_int_equal(result, headers[i].result);
        assert_non_null(strstr(error.message, headers[i].message));
        free(path);
    }
    temporary_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_and_columns_come_from_the_header),
        cmocka_unit_test(sorted_stretches_are_merged_and_equal_times_keep_their_order),
        cmocka_unit_test(a_row_without_its_time_counts_by_the_other),
        cmocka_unit_test(rows_left_out_are_counted_with_their_first_line),
        cmocka_unit_test(a_file_in_no_order_at_all_is_sorted),
        cmocka_unit_test(a_file_without_header_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
