/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the csv readers share: opening slices, cells, names of counters.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascend_csv.h"

uint32_t ascend_text(struct model *model, const char *terminated)
{
    return model_text(model, terminated, strlen(terminated));
}

uint16_t ascend_pool(struct model *model, const char *name)
{
    return model_pool(model, ascend_text(model, name));
}

uint16_t ascend_place(struct model *model, int32_t device)
{
    return model_place(model,
                       (struct mt_place){.device = device, .kind = MT_KIND_DEVICE, .module = -1});
}

/* Nothing can be read: because nothing is there, or because all of it is damaged. */
static enum mt_result without_rows(const struct ascend_files *files, struct model *model,
                                   struct mt_error *error)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct csv_table *table = &files->tables[i];
        uint64_t line;
        const char *reason = csv_table_first_damage(table, &line);

        if (reason)
            return mt_error_set(error, MT_CORRUPT,
                                "%s: no usable rows; the first, in line %" PRIu64 ": %s",
                                table->path, line, reason);
    }
    if (files->count)
        model_note(model, 0, "%s: no usable rows", csv_table_name(&files->tables[0]));
    return MT_OK;
}

static uint64_t skipped(const struct ascend_files *files, bool is_damaged)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < files->count; i++)
        sum += csv_table_skipped(&files->tables[i], is_damaged);
    return sum;
}

enum mt_result ascend_files_open(struct ascend_files *files, struct ascend_paths paths,
                                 const struct csv_column *columns, size_t column_count,
                                 size_t time_column, size_t other_time_column, struct model *model,
                                 struct mt_error *error)
{
    enum mt_result result = MT_OK;
    bool is_read = false;

    memset(files, 0, sizeof(*files));
    files->tables = calloc(paths.count ? paths.count : 1, sizeof(*files->tables));
    if (!files->tables)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open csv files");
    for (size_t i = 0; result == MT_OK && i < paths.count; i++) {
        result = csv_table_open(&files->tables[i], paths.paths[i], columns, column_count, error);
        files->count += result == MT_OK;
    }
    if (result == MT_OK)
        result = csv_sorted_open(&files->sorted, files->tables, files->count, time_column,
                                 other_time_column, error);
    if (result == MT_OK && !files->sorted.row_count) {
        is_read = true;
        result = without_rows(files, model, error);
    }
    if (result != MT_OK) {
        ascend_files_close(files, is_read ? model : NULL);
        return result;
    }
    files->row_count = files->sorted.row_count + skipped(files, false);
    if (files->sorted.run_count > CSV_RUNS_MAX)
        model_note(model, 0, "%s: rows in no order of time; they were sorted",
                   csv_table_name(&files->tables[0]));
    return MT_OK;
}

void ascend_files_close(struct ascend_files *files, struct model *model)
{
    csv_sorted_close(&files->sorted);
    if (model)
        model_add_share(model, PART_ROWS,
                        (struct model_share){skipped(files, true), files->row_count});
    for (size_t i = 0; i < files->count; i++) {
        if (model)
            csv_table_report(&files->tables[i], model);
        csv_table_close(&files->tables[i]);
    }
    free(files->tables);
    memset(files, 0, sizeof(*files));
}

struct ascend_total ascend_bytes(const struct csv_table *table, const struct csv_row *row,
                                 size_t column, uint64_t megabyte)
{
    uint64_t unit = table->columns[column].unit;
    struct ascend_total total = {0};

    if (unit == 1 << 20 && megabyte)
        unit = megabyte;
    total.is_known =
        csv_size(csv_at(table, row, column), unit ? unit : 1, &total.bytes) == CSV_CELL_NUMBER;
    return total;
}

static bool skip_cell(struct csv_table *table, const struct csv_row *row)
{
    csv_skip(table, CSV_SKIP_BAD_CELL, row->line);
    return false;
}

bool ascend_cells_are_numbers(struct csv_table *table, const struct csv_row *row,
                              const uint8_t *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct csv_field cell = csv_at(table, row, columns[i]);
        uint64_t ignored;

        if (csv_has(table, columns[i]) && !csv_is_missing(cell) &&
            csv_size(cell, 1, &ignored) == CSV_CELL_BAD)
            return skip_cell(table, row);
    }
    return true;
}

bool ascend_cells_are_given(struct csv_table *table, const struct csv_row *row,
                            const uint8_t *columns, size_t count, struct ascend_given *given)
{
    uint8_t here = 0, new_cells;

    if (!ascend_cells_are_numbers(table, row, columns, count))
        return false;
    for (size_t i = 0; i < count; i++)
        here |= (uint8_t)((csv_has(table, columns[i]) &&
                           !csv_is_missing(csv_at(table, row, columns[i])))
                          << i);
    new_cells = (uint8_t)(here & ~given->cells);
    for (uint64_t i = 0; new_cells && i < given->row_count; i++)
        csv_skip(given->table, CSV_SKIP_BAD_CELL, given->line);
    if (new_cells)
        given->row_count = 0;
    given->cells |= here;
    if (here != given->cells)
        return skip_cell(table, row);
    if (!given->row_count++) {
        given->table = table;
        given->line = row->line;
    }
    return true;
}

bool ascend_device_is_sound(struct csv_table *table, const struct csv_row *row, size_t column)
{
    return !csv_has(table, column) || csv_device(csv_at(table, row, column)) >= 0 ||
           skip_cell(table, row);
}

static uint32_t counter_text(struct model *model, struct csv_field component, const char *what)
{
    char name[128];
    int length =
        snprintf(name, sizeof(name), "%.*s %s",
                 component.size_bytes < 64 ? (int)component.size_bytes : 64, component.bytes, what);

    return model_text(model, name, (size_t)length);
}

void ascend_counter_add(struct model *model, struct ascend_row *row, struct csv_field component,
                        const char *what, struct ascend_total value)
{
    if (value.is_known)
        ascend_total_add(row, counter_text(model, component, what), value);
}

uint32_t ascend_stream_name(struct model *model, struct csv_field stream)
{
    stream = csv_trim(stream);
    return csv_is_missing(stream) ? 0 : model_text(model, stream.bytes, stream.size_bytes);
}

struct ascend_counters *ascend_counters_of(struct model *model, struct ascend_counters *components,
                                           struct csv_field component)
{
    struct ascend_counters *found = components;

    if (component.size_bytes > sizeof(found->component))
        component.size_bytes = sizeof(found->component);
    for (; found->is_filled && found < components + ASCEND_COMPONENTS - 1; found++)
        if (found->size_bytes == component.size_bytes &&
            memcmp(found->component, component.bytes, component.size_bytes) == 0)
            return found;
    memcpy(found->component, component.bytes, component.size_bytes);
    found->size_bytes = component.size_bytes;
    found->is_filled = true;
    found->allocated = counter_text(model, component, "allocated");
    found->reserved = counter_text(model, component, "reserved");
    found->active = counter_text(model, component, "active");
    return found;
}
