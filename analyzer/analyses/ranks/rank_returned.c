/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_returned.h"

#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "labels.h"
#include "list.h"
#include "parquet.h"

/* The columns of the query, which are the facts of a finding. */
enum column {
    CAUSE,
    RANK,
    HOST_NAME,
    POOL,
    SITE,
    STEP,
    RANK_COUNT,
    VALUE_BYTES_OF,
    PEERS_BYTES,
    COLUMN_COUNT
};

static const struct {
    const char *name, *title;
    enum parquet_kind kind;
} columns[COLUMN_COUNT] = {
    {"cause", "cause", PARQUET_TEXT},
    {"rank", "rank", PARQUET_TEXT},
    {"host_name", "where", PARQUET_TEXT},
    {"pool", "pool", PARQUET_TEXT},
    {"site", "site", PARQUET_TEXT},
    {"step", "step", PARQUET_INTEGER},
    {"rank_count", "ranks", PARQUET_INTEGER},
    {"value_bytes", "value", PARQUET_INTEGER},
    {"peers_bytes", "of the peers", PARQUET_INTEGER},
};

struct cell {
    bool is_known;
    uint64_t number;
    const char *text;
};

struct returned {
    struct parquet_reader *reader;
    struct report *report;
    struct cell (*rows)[COLUMN_COUNT];
    size_t count, capacity;
};

static enum mt_result read_column(struct returned *returned, size_t group, enum column column,
                                  size_t first, struct mt_error *error)
{
    enum parquet_kind kind;
    size_t index = parquet_reader_column(returned->reader, columns[column].name, &kind);
    struct parquet_values values;
    enum mt_result result;

    if (index == SIZE_MAX || kind != columns[column].kind)
        return mt_error_set(error, MT_CORRUPT, "what the engine returned has no column %s",
                            columns[column].name);
    result = parquet_reader_read(returned->reader, group, index, &values, error);
    for (size_t i = 0; result == MT_OK && i < values.count; i++) {
        struct cell *cell = &returned->rows[first + i][column];

        cell->is_known = values.known[i];
        if (kind == PARQUET_INTEGER)
            cell->number = values.numbers[i] > 0 ? (uint64_t)values.numbers[i] : 0;
        else
            cell->text = report_text(returned->report, "%.*s", (int)values.texts[i].size_bytes,
                                     values.bytes + values.texts[i].offset);
    }
    return result;
}

static enum mt_result read_groups(struct returned *returned, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    for (size_t i = 0; result == MT_OK && i < parquet_reader_group_count(returned->reader); i++) {
        size_t first = returned->count, rows = parquet_reader_group_rows(returned->reader, i);

        if (!list_reach(&returned->rows, &returned->capacity, first + rows,
                        sizeof(*returned->rows)))
            return mt_error_set(error, MT_NO_MEMORY, "no memory for what the engine returned");
        returned->count += rows;
        for (size_t column = 0; result == MT_OK && column < COLUMN_COUNT; column++)
            result = read_column(returned, i, (enum column)column, first, error);
    }
    return result;
}

static struct value value_of(const struct cell *cells, enum column column)
{
    const struct cell *cell = &cells[column];

    if (!cell->is_known)
        return value_none();
    switch (column) {
    case CAUSE:
        return value_word(cell->text);
    case STEP:
        return value_step(cell->number);
    case RANK_COUNT:
        return value_count(cell->number);
    case VALUE_BYTES_OF:
    case PEERS_BYTES:
        return value_bytes(cell->number);
    default:
        return value_text(cell->text);
    }
}

static bool is_leak(const struct cell *cells)
{
    const char *cause = cells[CAUSE].is_known ? cells[CAUSE].text : "";

    return strcmp(cause, "leak") == 0 || strcmp(cause, "refused") == 0;
}

/* "leak: rank 5, train.py:7, step 9" */
static const char *sentence_of(struct report *report, const struct cell *cells)
{
    const char *cause = cells[CAUSE].is_known ? cells[CAUSE].text : "";
    const char *who = cells[RANK].is_known ? cells[RANK].text
                      : cells[HOST_NAME].is_known
                          ? cells[HOST_NAME].text
                          : label_counted(report_arena(report), cells[RANK_COUNT].number, "rank");
    const char *site = cells[SITE].is_known ? report_text(report, ", %s", cells[SITE].text) : "";
    const char *step = cells[STEP].is_known
                           ? report_text(report, ", step %s",
                                         label_count(report_arena(report), cells[STEP].number))
                           : "";

    return report_text(report, "%s: %s%s%s.", cause, who, site, step);
}

static void say_rows(const struct returned *returned, const char *engine)
{
    struct report *report = returned->report;
    struct report_table *table = report_table(report, "rank_findings", "What the engine found",
                                              "No rank differs from the others.");

    for (size_t i = 0; i < returned->count; i++) {
        struct field fields[COLUMN_COUNT];

        for (size_t column = 0; column < COLUMN_COUNT; column++)
            fields[column] = (struct field){columns[column].name, columns[column].title,
                                            value_of(returned->rows[i], (enum column)column)};
        report_row(report, table, fields, COLUMN_COUNT);
        for (size_t column = 0; column < COLUMN_COUNT; column++)
            fields[column].title = NULL;
        report_finding(report, "rank", sentence_of(report, returned->rows[i]), fields,
                       COLUMN_COUNT);
        if (is_leak(returned->rows[i]))
            report_outcome(report, REPORT_FOUND);
    }
    if (returned->count)
        report_verdict(report, RANK_MODULES, "%s found %s.", engine,
                       label_counted(report_arena(report), returned->count, "cause"));
    else
        report_verdict(report, RANK_MODULES, "%s found no rank that differs from the others.",
                       engine);
}

enum mt_result rank_returned_answer(const char *path, const char *engine, struct report *report,
                                    struct mt_error *error)
{
    struct returned returned = {.report = report};
    enum mt_result result = parquet_reader_create(&returned.reader, error);

    if (result == MT_OK)
        result = parquet_reader_open(returned.reader, path, error);
    if (result == MT_OK)
        result = read_groups(&returned, error);
    if (result == MT_OK)
        say_rows(&returned, engine);
    parquet_reader_destroy(returned.reader);
    free(returned.rows);
    return result;
}
