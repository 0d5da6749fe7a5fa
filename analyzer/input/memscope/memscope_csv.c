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
#include "path_text.h"

enum { buffer_bytes = 1 << 20 };

struct memscope_csv {
    const char *path;
    int descriptor;
    struct csv_reader reader;
    struct csv_row row;
    int columns[CSV_COLUMNS_MAX]; /* enum memscope_input_column of each, or MEMSCOPE_COLUMNS */
    struct memscope_header header;
    size_t wanted, header_count;
    struct attr_text cells[MEMSCOPE_COLUMNS + 1]; /* of a row; empty where there is no column */
    struct memscope_csv_facts facts;
};

static void take_header(struct memscope_csv *csv)
{
    size_t count = csv->row.column_count;

    csv->header_count = count;
    for (size_t i = 0; i <= MEMSCOPE_COLUMNS; i++)
        csv->cells[i] = (struct attr_text){"", 0};
    for (size_t i = 0; i < count && i < CSV_COLUMNS_MAX; i++) {
        struct csv_field field = csv->row.fields[i];

        csv->columns[i] = (int)memscope_column_of(field.bytes, field.size_bytes);
        csv->header.has[csv->columns[i]] = true;
        if (csv->columns[i] != MEMSCOPE_COLUMNS)
            csv->wanted = i + 1;
        if (csv->columns[i] == COLUMN_TIME && memchr(field.bytes, 'u', field.size_bytes))
            csv->facts.counts_microseconds = true;
    }
}

/* MT_UNSUPPORTED: it is none of theirs. */
static enum mt_result check_header(const struct memscope_csv *csv, struct mt_error *error)
{
    const char *lacking = memscope_header_lacks(&csv->header);

    if (!memscope_header_is_ours(&csv->header))
        return mt_error_set(error, MT_UNSUPPORTED, "line 1: no header of msleaks or msmemscope");
    if (lacking)
        return mt_error_set(error, MT_CORRUPT, "line 1: no column \"%s\"", lacking);
    return MT_OK;
}

static void csv_close(struct memscope_csv *csv)
{
    csv_reader_release(&csv->reader);
    if (csv->descriptor >= 0)
        close(csv->descriptor);
}

static enum mt_result csv_open(struct memscope_csv *csv, const char *path, struct mt_error *error)
{
    struct mt_error why = {.message = ""};
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
    if (result == MT_OK)
        result = check_header(csv, &why);
    csv->facts.missed_column = memscope_header_misses(&csv->header);
    if (result != MT_OK) {
        csv_close(csv);
        return mt_error_set(error, result, "%s: %s", path, why.message);
    }
    return MT_OK;
}

int memscope_csv_recognises(const char *path)
{
    struct memscope_csv csv;
    enum mt_result result = csv_open(&csv, path, NULL);

    if (result == MT_OK)
        csv_close(&csv);
    return result == MT_OK || (result == MT_CORRUPT && memscope_header_is_ours(&csv.header));
}

static void take_row(struct memscope_csv *csv, const struct memscope_row_visitor *visitor)
{
    const struct csv_field *fields = csv->row.fields;

    csv->facts.row_count++;
    if (csv->row.is_cut) {
        csv->facts.cut_line = csv->row.line;
    } else if (csv->row.column_count >= csv->header_count) {
        for (size_t i = 0; i < csv->wanted; i++)
            csv->cells[csv->columns[i]] = (struct attr_text){fields[i].bytes, fields[i].size_bytes};
        if (visitor->row(visitor->context, csv->cells))
            return;
    }
    if (!csv->facts.bad_count++)
        csv->facts.bad_line = csv->row.line;
}

enum mt_result memscope_csv_visit(const char *path, const struct memscope_row_visitor *visitor,
                                  struct memscope_csv_facts *facts, struct mt_error *error)
{
    struct memscope_csv csv;
    struct mt_error why = {.message = ""};
    bool has_row = true;
    enum mt_result result = csv_open(&csv, path, error);

    if (result != MT_OK)
        return result;
    *facts = csv.facts;
    while (result == MT_OK) {
        result = csv_reader_next(&csv.reader, csv.wanted, &csv.row, &has_row, &why);
        if (result == MT_OK && !has_row)
            break;
        if (result == MT_OK)
            take_row(&csv, visitor);
    }
    csv_close(&csv);
    *facts = csv.facts;
    if (result != MT_OK)
        return mt_error_set(error, result, "%s: %s", path, why.message);
    return MT_OK;
}

struct reading {
    struct memscope_rows *rows;
    struct memscope_csv_facts facts;
    bool is_begun;
};

static bool add_row(void *context, const struct attr_text *cells)
{
    struct reading *reading = context;

    if (!reading->is_begun)
        memscope_rows_begin_file(reading->rows, reading->facts.counts_microseconds ? 1000 : 0);
    reading->is_begun = true;
    return memscope_rows_add(reading->rows, cells);
}

enum mt_result memscope_csv_read(const char *path, struct model *model, struct memscope_rows *rows,
                                 struct mt_error *error)
{
    struct reading reading = {.rows = rows};
    struct memscope_row_visitor visitor = {&reading, add_row};
    enum mt_result result = memscope_csv_visit(path, &visitor, &reading.facts, error);

    if (reading.facts.cut_line) { /* not one of so many: nobody knows how many there were */
        reading.facts.row_count--;
        reading.facts.bad_count--;
    }
    model_add_share(model, PART_ROWS,
                    (struct model_share){reading.facts.bad_count, reading.facts.row_count});
    if (reading.facts.missed_column)
        model_lack(model, "%s has no column \"%s\"", path_base(path), reading.facts.missed_column);
    if (reading.facts.cut_line)
        model_lack(model,
                   "%s ends within a row, in line %" PRIu64
                   ": it was cut, and nobody knows how much is missing",
                   path_base(path), reading.facts.cut_line);
    if (reading.facts.bad_count) {
        model_note(model, reading.facts.bad_count,
                   "rows of %s that make no sense, and were left out; the first is line %" PRIu64,
                   path_base(path), reading.facts.bad_line);
    }
    return result;
}
