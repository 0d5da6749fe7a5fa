/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of numbers, and each text once.
 */
#include "summary.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "list.h"

void summary_init(struct summary *summary)
{
    *summary = (struct summary){.has_failed = false};
    arena_init(&summary->arena);
    table_init(&summary->texts, &summary->arena, sizeof(const char *));
    hash_index_init(&summary->text_index);
    summary_text_number(summary, "", 0);
}

void summary_release(struct summary *summary)
{
    for (size_t i = 0; i < SUMMARY_COLUMN_COUNT; i++) {
        free(summary->values[i].numbers);
        free(summary->values[i].known);
    }
    hash_index_release(&summary->text_index);
    arena_release(&summary->arena);
}

enum mt_result summary_status(const struct summary *summary, struct mt_error *error)
{
    return summary->has_failed ? mt_error_set(error, MT_NO_MEMORY, "no memory for a summary")
                               : MT_OK;
}

int64_t summary_text_number(struct summary *summary, const char *bytes, size_t size_bytes)
{
    uint64_t hash;
    size_t probe = 0;
    uint32_t found;
    const char **row, *copy;

    size_bytes = strnlen(bytes, size_bytes);
    hash = hash_bytes(bytes, size_bytes);
    while (hash_index_next(&summary->text_index, hash, &probe, &found)) {
        const char *text = summary_text(summary, found);

        if (strncmp(text, bytes, size_bytes) == 0 && !text[size_bytes])
            return found;
    }
    copy = arena_text(&summary->arena, bytes, size_bytes);
    row = copy ? hash_index_add_row(&summary->text_index, hash, &summary->texts) : NULL;
    if (!row) {
        summary->has_failed = true;
        return 0;
    }
    *row = copy;
    return (uint32_t)(summary->texts.count - 1);
}

const char *summary_text(const struct summary *summary, int64_t number)
{
    return (size_t)number < summary->texts.count
               ? *(const char *const *)table_at(&summary->texts, (size_t)number)
               : "";
}

size_t summary_add_rows(struct summary *summary, enum summary_table table, size_t count)
{
    size_t first = summary->row_counts[table];

    for (size_t i = 0; i < SUMMARY_COLUMN_COUNT && count; i++) {
        struct summary_values *values = &summary->values[i];
        size_t last = first + count - 1;

        if (summary_columns[i].table != table || summary->is_left_out[i])
            continue;
        if (!list_reach(&values->numbers, &values->number_capacity, last, sizeof(int64_t)) ||
            !list_reach(&values->known, &values->known_capacity, last, sizeof(uint8_t))) {
            summary->has_failed = true;
            return SIZE_MAX;
        }
        memset(&values->numbers[first], 0, count * sizeof(int64_t));
        memset(&values->known[first], !summary_columns[i].is_optional, count);
    }
    summary->row_counts[table] += count;
    return first;
}

size_t summary_add(struct summary *summary, enum summary_table table)
{
    return summary_add_rows(summary, table, 1);
}

void summary_put(struct summary *summary, enum summary_column column, size_t row, uint64_t number)
{
    if (row == SIZE_MAX)
        return;
    summary->values[column].numbers[row] = number < INT64_MAX ? (int64_t)number : INT64_MAX;
    summary->values[column].known[row] = true;
}

void summary_put_bytes(struct summary *summary, enum summary_column column, size_t row,
                       const char *bytes, size_t size_bytes)
{
    if (row == SIZE_MAX || (!size_bytes && summary_columns[column].is_optional))
        return;
    summary->values[column].numbers[row] = summary_text_number(summary, bytes, size_bytes);
    summary->values[column].known[row] = true;
}

void summary_put_text(struct summary *summary, enum summary_column column, size_t row,
                      const char *terminated)
{
    summary_put_bytes(summary, column, row, terminated, strlen(terminated));
}

static void append_column(struct summary *summary, enum summary_column column, size_t first,
                          const struct summary *from)
{
    enum summary_table table = summary_columns[column].table;
    struct summary_values *to = &summary->values[column];
    const struct summary_values *values = &from->values[column];

    for (size_t row = 0; row < from->row_counts[table]; row++) {
        int64_t number = values->numbers[row];

        if (values->known[row] && summary_columns[column].kind == SUMMARY_TEXT) {
            const char *text = summary_text(from, number);

            number = summary_text_number(summary, text, strlen(text));
        }
        to->numbers[first + row] = number;
        to->known[first + row] = values->known[row];
    }
}

void summary_append(struct summary *summary, const struct summary *from)
{
    size_t first[SUMMARY_TABLE_COUNT];

    for (size_t i = 0; i < SUMMARY_TABLE_COUNT; i++)
        first[i] = summary_add_rows(summary, (enum summary_table)i, from->row_counts[i]);
    summary->has_failed = summary->has_failed || from->has_failed;
    for (size_t i = 0; i < SUMMARY_COLUMN_COUNT && !summary->has_failed; i++)
        if (!summary->is_left_out[i] && !from->is_left_out[i])
            append_column(summary, (enum summary_column)i, first[summary_columns[i].table], from);
}

/* --- what must be true ------------------------------------------------------------------------ */

static void column_check(const struct summary *summary, enum summary_column column)
{
    const struct summary_column_info *info = &summary_columns[column];
    const struct summary_values *values = &summary->values[column];
    size_t rows = summary->row_counts[info->table];

    MT_ASSERT(!rows || (values->numbers && values->known));
    MT_ASSERT(rows <= values->number_capacity && rows <= values->known_capacity);
    for (size_t row = 0; row < rows; row++) {
        MT_ASSERT(values->known[row] <= 1);
        MT_ASSERT(values->known[row] || info->is_optional);
        MT_ASSERT(values->known[row] || !values->numbers[row]);
        MT_ASSERT(info->kind == SUMMARY_INTEGER ||
                  (uint64_t)values->numbers[row] < summary->texts.count);
    }
}

void summary_check(const struct summary *summary)
{
    if (summary->has_failed)
        return;
    MT_ASSERT(summary->texts.count);
    MT_ASSERT(!*summary_text(summary, 0));
    MT_ASSERT(summary->text_index.count == summary->texts.count);
    for (size_t i = 0; i < SUMMARY_COLUMN_COUNT; i++) {
        MT_ASSERT(!summary->is_left_out[i] || !summary->values[i].numbers);
        if (!summary->is_left_out[i])
            column_check(summary, (enum summary_column)i);
    }
}
