/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers, and what was skipped.
 */
#define _GNU_SOURCE /* memrchr */
#include "csv_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path_text.h"

enum { header_buffer_bytes = 16 * 1024 };

static const struct {
    const char *name;
    uint64_t unit;
} units[] = {
    {"ns", 1},        {"us", 1000},    {"ms", 1000000},  {"s", 1000000000}, {"B", 1},
    {"Byte", 1},      {"Bytes", 1},    {"KB", 1024},     {"KiB", 1024},     {"MB", 1 << 20},
    {"MiB", 1 << 20}, {"GB", 1 << 30}, {"GiB", 1 << 30},
};

/* Cuts "(us)" off the header's text and returns its unit; 0 when there is none. */
static uint64_t take_unit(struct csv_field *header)
{
    struct csv_field unit = csv_trim(*header);
    const char *open = memrchr(unit.bytes, '(', unit.size_bytes);

    *header = unit;
    if (!open || unit.bytes[unit.size_bytes - 1] != ')')
        return 0;
    unit.size_bytes = (size_t)(unit.bytes + unit.size_bytes - 1 - (open + 1));
    unit.bytes = open + 1;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (unit.size_bytes != strlen(units[i].name) ||
            strncasecmp(unit.bytes, units[i].name, unit.size_bytes) != 0)
            continue;
        header->size_bytes = (size_t)(open - header->bytes);
        *header = csv_trim(*header);
        return units[i].unit;
    }
    return 0;
}

static bool is_one_of(struct csv_field name, const char *names)
{
    while (*names) {
        size_t length = strcspn(names, "|");

        if (length == name.size_bytes && strncasecmp(names, name.bytes, length) == 0)
            return true;
        names += length + (names[length] == '|');
    }
    return false;
}

static void match_header(struct csv_table *table, const struct csv_row *row,
                         const struct csv_column *columns, size_t count)
{
    for (size_t i = 0; i < row->column_count && i < CSV_COLUMNS_MAX; i++) {
        struct csv_field name = row->fields[i];
        uint64_t unit = take_unit(&name);

        for (size_t k = 0; k < count; k++) {
            if (table->columns[k].column >= 0 || !is_one_of(name, columns[k].names))
                continue;
            table->columns[k].column = (int16_t)i;
            table->columns[k].unit = unit;
            table->has_rest |= columns[k].need == CSV_REST;
            table->wanted = i + 1;
            break;
        }
    }
}

static enum mt_result read_header(struct csv_table *table, const struct csv_column *columns,
                                  size_t count, struct mt_error *error)
{
    struct csv_reader reader;
    struct csv_row row;
    bool has_row;
    enum mt_result result = csv_reader_init(&reader, table->descriptor, header_buffer_bytes, error);

    if (result != MT_OK)
        return result;
    result = csv_reader_next(&reader, CSV_COLUMNS_MAX, &row, &has_row, error);
    if (result == MT_OK && !has_row)
        result = mt_error_set(error, MT_NO_DATA, "%s: the file is empty", table->path);
    if (result == MT_OK) {
        table->column_count = row.column_count;
        match_header(table, &row, columns, count);
        table->first_row_offset_bytes = reader.offset_bytes;
        table->first_row_line = reader.line;
        if (row.is_cut) /* who writes these files ends each line: nobody knows what is missing */
            csv_skip(table, CSV_SKIP_CUT, 1);
    }
    for (size_t i = 0; i < count; i++)
        if (columns[i].need == CSV_EXPECTED && table->columns[i].column < 0 && !table->lacking)
            table->lacking = columns[i].names;
    for (size_t i = 0; result == MT_OK && i < count; i++)
        if (columns[i].need == CSV_REQUIRED && table->columns[i].column < 0)
            result = mt_error_set(error, MT_CORRUPT, "%s: line 1: no column \"%s\"", table->path,
                                  columns[i].names);
    csv_reader_release(&reader);
    return result;
}

enum mt_result csv_table_open(struct csv_table *table, const char *path,
                              const struct csv_column *columns, size_t count,
                              struct mt_error *error)
{
    struct stat status;
    enum mt_result result = MT_OK;

    memset(table, 0, sizeof(*table));
    for (size_t i = 0; i < CSV_WANTED_MAX; i++)
        table->columns[i].column = -1;
    table->path = strdup(path);
    table->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (!table->path)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    else if (table->descriptor < 0 || fstat(table->descriptor, &status) != 0)
        result = mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    else
        result = read_header(table, columns, count, error);
    if (result == MT_OK)
        table->size_bytes = (uint64_t)status.st_size;
    else
        csv_table_close(table);
    return result;
}

void csv_table_close(struct csv_table *table)
{
    if (table->path && table->descriptor >= 0)
        close(table->descriptor);
    free(table->path);
    table->path = NULL;
    table->descriptor = -1;
}

bool csv_row_fits(struct csv_table *table, const struct csv_row *row)
{
    if (csv_row_is_whole(table, row))
        return true;
    csv_skip(table, row->is_cut ? CSV_SKIP_CUT : CSV_SKIP_COLUMNS, row->line);
    return false;
}

void csv_skip(struct csv_table *table, enum csv_skip reason, uint64_t line)
{
    struct csv_skips *skips = &table->skips;

    if (!skips->counts[reason]++ || line < skips->first_lines[reason])
        skips->first_lines[reason] = line;
}

enum csv_skip csv_skip_of_time(enum csv_cell cell)
{
    if (cell == CSV_CELL_ROUNDED)
        return CSV_SKIP_ROUNDED_TIME;
    return cell == CSV_CELL_NEGATIVE ? CSV_SKIP_BEFORE_START : CSV_SKIP_BAD_TIME;
}

static const char *const skip_reasons[CSV_SKIP_COUNT] = {
    [CSV_SKIP_COLUMNS] = "not as many columns as the header",
    [CSV_SKIP_CUT] = "the file ends within a row",
    [CSV_SKIP_ROUNDED_TIME] = "times rounded by a spreadsheet (1.69512E+15)",
    [CSV_SKIP_BAD_TIME] = "no usable time",
    [CSV_SKIP_BEFORE_START] = "times before the start of the clock",
    [CSV_SKIP_BAD_SIZE] = "no usable size",
    [CSV_SKIP_BAD_CELL] = "a cell is empty or no number where others have one",
    [CSV_SKIP_REPEATED_HEADER] = "the header again",
    [CSV_SKIP_RELEASED_BEFORE] = "released before it was allocated",
};

static bool is_damage(enum csv_skip reason)
{
    return reason != CSV_SKIP_REPEATED_HEADER && reason != CSV_SKIP_BEFORE_START;
}

const char *csv_table_first_damage(const struct csv_table *table, uint64_t *line)
{
    const struct csv_skips *skips = &table->skips;
    const char *reason = NULL;

    for (int i = 0; i < CSV_SKIP_COUNT; i++) {
        if (!skips->counts[i] || !is_damage(i) || (reason && skips->first_lines[i] >= *line))
            continue;
        reason = skip_reasons[i];
        *line = skips->first_lines[i];
    }
    return reason;
}

uint64_t csv_table_skipped(const struct csv_table *table, bool is_damaged)
{
    uint64_t sum = 0;

    for (int i = 0; i < CSV_SKIP_COUNT; i++)
        if (i != CSV_SKIP_CUT && (!is_damaged || is_damage(i)))
            sum += table->skips.counts[i];
    return sum;
}

void csv_table_report(const struct csv_table *table, struct model *model)
{
    if (table->lacking)
        model_lack(model, "%s has no column \"%.*s\"", csv_table_name(table),
                   (int)strcspn(table->lacking, "|"), table->lacking);
    if (table->skips.counts[CSV_SKIP_CUT])
        model_lack(model,
                   "%s ends within a row, in line %" PRIu64
                   ": it was cut, and nobody knows how much is missing",
                   csv_table_name(table), table->skips.first_lines[CSV_SKIP_CUT]);
    for (int i = 0; i < CSV_SKIP_COUNT; i++)
        if (table->skips.counts[i] && i != CSV_SKIP_CUT)
            model_note(model, table->skips.counts[i],
                       "%s: rows skipped, the first in line %" PRIu64 ": %s", csv_table_name(table),
                       table->skips.first_lines[i], skip_reasons[i]);
}

const char *csv_table_name(const struct csv_table *table)
{
    return path_base(table->path);
}
