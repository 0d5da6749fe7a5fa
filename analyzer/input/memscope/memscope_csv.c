/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The csv of msleaks and msmemscope: columns by the names in the header, stacks over many lines.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "csv_reader.h"
#include "memscope_files.h"

enum { buffer_bytes = 1 << 20 };

struct memscope_csv {
    const char *path;
    int descriptor;
    struct csv_reader reader;
    struct csv_row row;
    int columns[CSV_COLUMNS_MAX]; /* enum memscope_column of each, or MEMSCOPE_COLUMNS */
    size_t wanted, header_count;
    bool counts_microseconds;
    uint64_t bad_count, bad_line;
};

static void take_header(struct memscope_csv *csv)
{
    size_t count = csv->row.column_count;

    csv->header_count = count;
    for (size_t i = 0; i < count && i < CSV_COLUMNS_MAX; i++) {
        struct csv_field field = csv->row.fields[i];

        csv->columns[i] = (int)memscope_column_of(field.bytes, field.size_bytes);
        if (csv->columns[i] != MEMSCOPE_COLUMNS)
            csv->wanted = i + 1;
        if (csv->columns[i] == COLUMN_TIME && memchr(field.bytes, 'u', field.size_bytes))
            csv->counts_microseconds = true;
    }
}

static bool is_header(const struct memscope_csv *csv)
{
    bool has[MEMSCOPE_COLUMNS + 1] = {false};

    for (size_t i = 0; i < csv->wanted; i++)
        has[csv->columns[i]] = true;
    return has[COLUMN_EVENT] && has[COLUMN_TYPE] && has[COLUMN_TIME] && has[COLUMN_PROCESS] &&
           (has[COLUMN_ATTR] || has[COLUMN_SIZE]);
}

static void csv_close(struct memscope_csv *csv)
{
    csv_reader_release(&csv->reader);
    if (csv->descriptor >= 0)
        close(csv->descriptor);
}

static enum mt_result csv_open(struct memscope_csv *csv, const char *path, struct mt_error *error)
{
    struct mt_error why = {{0}};
    bool has_row = false;
    enum mt_result result;

    memset(csv, 0, sizeof(*csv));
    csv->path = path;
    csv->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (csv->descriptor < 0)
        return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    result = csv_reader_init(&csv->reader, csv->descriptor, buffer_bytes, &why);
    if (result == MT_OK)
        result = csv_reader_next(&csv->reader, CSV_COLUMNS_MAX, &csv->row, &has_row, &why);
    if (result == MT_OK && has_row)
        take_header(csv);
    if (result == MT_OK && (!has_row || !is_header(csv)))
        result = mt_error_set(&why, MT_CORRUPT, "line 1: no header of msleaks or msmemscope");
    if (result != MT_OK) {
        csv_close(csv);
        return mt_error_set(error, result, "%s: %s", path, why.message);
    }
    return MT_OK;
}

int memscope_csv_recognises(const char *path)
{
    struct memscope_csv csv;

    if (csv_open(&csv, path, NULL) != MT_OK)
        return 0;
    csv_close(&csv);
    return 1;
}

static void take_row(struct memscope_csv *csv, struct memscope_rows *rows)
{
    struct attr_text cells[MEMSCOPE_COLUMNS + 1];

    for (size_t i = 0; i <= MEMSCOPE_COLUMNS; i++)
        cells[i] = (struct attr_text){"", 0};
    for (size_t i = 0; i < csv->wanted && i < csv->row.column_count; i++)
        cells[csv->columns[i]] =
            (struct attr_text){csv->row.fields[i].bytes, csv->row.fields[i].size_bytes};
    if (csv->row.column_count >= csv->header_count && memscope_rows_add(rows, cells))
        return;
    if (!csv->bad_count++)
        csv->bad_line = csv->row.line;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

enum mt_result memscope_csv_read(const char *path, struct model *model, struct memscope_rows *rows,
                                 struct mt_error *error)
{
    struct memscope_csv csv;
    struct mt_error why = {{0}};
    bool has_row = true;
    enum mt_result result = csv_open(&csv, path, error);

    if (result != MT_OK)
        return result;
    memscope_rows_begin_file(rows, csv.counts_microseconds ? 1000 : 0);
    while (result == MT_OK) {
        result = csv_reader_next(&csv.reader, csv.wanted, &csv.row, &has_row, &why);
        if (result == MT_OK && !has_row)
            break;
        if (result == MT_OK)
            take_row(&csv, rows);
    }
    csv_close(&csv);
    if (csv.bad_count) {
        model_set_incomplete(model);
        model_note(model, csv.bad_count,
                   "rows of %s that make no sense, and were left out; the first is line %" PRIu64,
                   base_name(path), csv.bad_line);
    }
    if (result != MT_OK)
        return mt_error_set(error, result, "%s: %s", path, why.message);
    return MT_OK;
}
