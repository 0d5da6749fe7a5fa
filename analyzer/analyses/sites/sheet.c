/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of numbers that become the columns of a dataset.
 */
#include "sheet.h"

#include <stdlib.h>

#include "leaktide/invariant.h"

enum { first_capacity = 256 };

struct sheet sheet_of(const char *const *keys)
{
    struct sheet sheet = {.keys = keys};

    while (keys[sheet.column_count])
        sheet.column_count++;
    MT_ASSERT(sheet.column_count <= SHEET_COLUMNS_MOST);
    return sheet;
}

static void make_room(struct sheet *sheet)
{
    size_t capacity = sheet->capacity ? sheet->capacity * 2 : first_capacity;

    for (size_t i = 0; i < sheet->column_count; i++) {
        uint64_t *column = realloc(sheet->columns[i], capacity * sizeof(*column));

        sheet->has_failed |= !column;
        sheet->columns[i] = column ? column : sheet->columns[i];
    }
    sheet->capacity = capacity;
}

void sheet_add(struct sheet *sheet, const uint64_t *values)
{
    if (sheet->row_count == sheet->capacity && !sheet->has_failed)
        make_room(sheet);
    if (sheet->has_failed)
        return;
    MT_ASSERT(sheet->row_count < sheet->capacity);
    for (size_t i = 0; i < sheet->column_count; i++)
        sheet->columns[i][sheet->row_count] = values[i];
    sheet->row_count++;
}

void sheet_to_report(struct sheet *sheet, struct report *report, const char *name)
{
    struct report_dataset *dataset = report_dataset(report, name, sheet->column_count);

    for (size_t i = 0; i < sheet->column_count; i++) {
        report_dataset_numbers(report, dataset, sheet->keys[i], sheet->columns[i],
                               sheet->row_count);
        free(sheet->columns[i]);
    }
    if (sheet->has_failed)
        report_note(report, 0, "pictures: not enough memory for all of them");
    *sheet = (struct sheet){0};
}
