/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer, before anybody decides how it looks.
 *
 * Everything lives in one arena. Lists are tables of base/table.h, so what was handed out stays.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "leaktide/invariant.h"
#include "report_stacks.h"
#include "sentence.h"
#include "table.h"

struct verdict_row {
    int rank;
    const char *sentence;
};

struct note_row {
    const char *sentence;
    uint64_t count;
};

struct report_series {
    const uint64_t *numbers;
    size_t count;
    enum value_kind kind;
};

struct report_table {
    const char *name, *ledger, *title, *when_empty;
    struct report_column *columns;
    size_t column_count;
    struct table rows; /* of value[column_count] */
    struct table remarks;
};

struct report_dataset {
    const char *name;
    struct report_dataset_column *columns;
    size_t column_count, capacity;
};

struct report {
    struct arena arena;
    struct report_stacks stacks;
    const char *command;
    enum report_outcome outcome;
    bool times_are_events;
    struct table verdicts, facts, findings, tables, datasets, notes;
};

enum mt_result report_create(const char *command, struct report **out, struct mt_error *error)
{
    struct report *report = calloc(1, sizeof(*report));

    if (!report)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a report");
    arena_init(&report->arena);
    report_stacks_init(&report->stacks, &report->arena);
    table_init(&report->verdicts, &report->arena, sizeof(struct verdict_row));
    table_init(&report->facts, &report->arena, sizeof(struct field));
    table_init(&report->findings, &report->arena, sizeof(struct finding));
    table_init(&report->tables, &report->arena, sizeof(struct report_table));
    table_init(&report->datasets, &report->arena, sizeof(struct report_dataset));
    table_init(&report->notes, &report->arena, sizeof(struct note_row));
    report->command = report_text(report, "%s", command);
    *out = report;
    return MT_OK;
}

void report_destroy(struct report *report)
{
    if (!report)
        return;
    report_stacks_release(&report->stacks);
    arena_release(&report->arena);
    free(report);
}

static void value_check(const struct value *value)
{
    MT_ASSERT(value->kind <= VALUE_STACK);
    MT_ASSERT(!value_is_text(value) || value->text);
    MT_ASSERT(value->kind != VALUE_SERIES || value->series->numbers || !value->series->count);
    MT_ASSERT(value->kind != VALUE_STACK || value->stack->frame);
}

static void fields_check(const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        MT_ASSERT(fields[i].key && *fields[i].key);
        value_check(&fields[i].value);
    }
}

static void table_check(const struct report_table *table)
{
    MT_ASSERT(table->name && *table->name);
    MT_ASSERT(table->title);
    MT_ASSERT(!table->rows.count || table->column_count);
    for (size_t i = 0; i < table->column_count; i++) {
        MT_ASSERT(table->columns[i].key && *table->columns[i].key);
        for (size_t j = 0; j < i; j++)
            MT_ASSERT(strcmp(table->columns[i].key, table->columns[j].key) != 0);
    }
    for (size_t i = 0; i < table->rows.count; i++)
        for (size_t j = 0; j < table->column_count; j++)
            value_check((const struct value *)table_at(&table->rows, i) + j);
    for (size_t i = 0; i < table->remarks.count; i++)
        MT_ASSERT(*(const char **)table_at(&table->remarks, i));
}

static void sentences_check(const struct report *report)
{
    const struct verdict_row *before = NULL;

    for (size_t i = 0; i < report->verdicts.count; i++) {
        const struct verdict_row *row = table_at(&report->verdicts, i);

        MT_ASSERT(row->sentence && *row->sentence);
        MT_ASSERT(!before || before->rank <= row->rank);
        before = row;
    }
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = table_at(&report->findings, i);

        MT_ASSERT(finding->kind && *finding->kind);
        MT_ASSERT(finding->sentence && *finding->sentence);
        fields_check(finding->facts, finding->fact_count);
    }
    for (size_t i = 0; i < report->notes.count; i++)
        MT_ASSERT(((const struct note_row *)table_at(&report->notes, i))->sentence);
}

static void report_check(const struct report *report)
{
    MT_ASSERT(report->outcome <= REPORT_FOUND);
    report_stacks_check(&report->stacks);
    sentences_check(report);
    for (size_t i = 0; i < report->facts.count; i++)
        fields_check(table_at(&report->facts, i), 1);
    for (size_t i = 0; i < report->tables.count; i++)
        table_check(table_at(&report->tables, i));
    for (size_t i = 0; i < report->datasets.count; i++) {
        const struct report_dataset *dataset = table_at(&report->datasets, i);

        MT_ASSERT(dataset->column_count <= dataset->capacity);
        for (size_t j = 0; j < dataset->column_count; j++)
            MT_ASSERT(!dataset->columns[j].numbers != !dataset->columns[j].texts);
    }
}

enum mt_result report_status(const struct report *report, struct mt_error *error)
{
    if (report->arena.has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a report");
    if (MT_ASSERTS)
        report_check(report);
    return MT_OK;
}

static const char *copy(struct report *report, const char *text)
{
    return arena_copy(&report->arena, text);
}

static struct value copy_value(struct report *report, struct value value)
{
    if (value_is_text(&value))
        value.text = copy(report, value.text);
    if (report->times_are_events && value.kind == VALUE_TIME_NS)
        value.kind = VALUE_EVENT;
    if (report->times_are_events && value.kind == VALUE_DURATION_NS)
        value.kind = VALUE_EVENT_COUNT;
    return value;
}

struct arena *report_arena(struct report *report)
{
    return &report->arena;
}

const char *report_text(struct report *report, const char *format, ...)
{
    va_list arguments;
    const char *text;

    va_start(arguments, format);
    text = sentence_list(&report->arena, format, arguments);
    va_end(arguments);
    return text;
}

static void *row_add(struct report *report, struct table *table)
{
    void *row = table_add(table);

    if (!row)
        report->arena.has_failed = true;
    return row;
}

/* Kept in order of rank; those of one rank stay in the order they came. */
void report_verdict(struct report *report, int rank, const char *format, ...)
{
    struct verdict_row *row = row_add(report, &report->verdicts);
    struct verdict_row added = {.rank = rank};
    va_list arguments;

    if (!row)
        return;
    va_start(arguments, format);
    added.sentence = sentence_list(&report->arena, format, arguments);
    va_end(arguments);
    for (size_t i = report->verdicts.count - 1; i > 0; i--) {
        struct verdict_row *before = table_at(&report->verdicts, i - 1);

        if (before->rank <= rank)
            break;
        *row = *before;
        row = before;
    }
    *row = added;
}

void report_times_are_events(struct report *report)
{
    report->times_are_events = true;
}

void report_outcome(struct report *report, enum report_outcome outcome)
{
    if (outcome > report->outcome)
        report->outcome = outcome;
}

void report_fact(struct report *report, const char *key, const char *title, struct value value)
{
    struct field *row = row_add(report, &report->facts);

    if (row)
        *row = (struct field){copy(report, key), title ? copy(report, translated(title)) : NULL,
                              copy_value(report, value)};
}

void report_finding(struct report *report, const char *kind, const char *sentence,
                    const struct field *facts, size_t fact_count)
{
    struct field *copies = arena_alloc(&report->arena, fact_count * sizeof(*copies));
    struct finding *row = copies ? row_add(report, &report->findings) : NULL;

    if (!row) /* a finding that is there has all its words: rules look at those before */
        return;
    for (size_t i = 0; i < fact_count; i++)
        copies[i] =
            (struct field){copy(report, facts[i].key), NULL, copy_value(report, facts[i].value)};
    *row = (struct finding){copy(report, kind), copy(report, translated(sentence)), copies,
                            fact_count};
}

struct report_table *report_table(struct report *report, const char *name, const char *title,
                                  const char *when_empty)
{
    struct report_table *row = row_add(report, &report->tables);

    if (!row)
        return NULL;
    row->name = copy(report, name);
    row->title = copy(report, translated(title));
    row->when_empty = when_empty ? copy(report, translated(when_empty)) : NULL;
    table_init(&row->remarks, &report->arena, sizeof(const char *));
    return row;
}

struct report_table *report_ledger_table(struct report *report, const char *name,
                                         const char *ledger, const char *title,
                                         const char *when_empty)
{
    struct report_table *table = report_table(report, name, title, when_empty);

    if (table)
        table->ledger = copy(report, ledger);
    return table;
}

/* The first row names the columns. False when there is no memory. */
static bool set_columns(struct report *report, struct report_table *table,
                        const struct field *fields, size_t field_count)
{
    struct report_column *columns = arena_alloc(&report->arena, field_count * sizeof(*columns));

    if (!columns)
        return false;
    for (size_t i = 0; i < field_count; i++)
        columns[i] = (struct report_column){
            copy(report, fields[i].key),
            fields[i].title ? copy(report, translated(fields[i].title)) : NULL};
    table->columns = columns;
    table->column_count = field_count;
    table_init(&table->rows, &report->arena, field_count * sizeof(struct value));
    return true;
}

void report_row(struct report *report, struct report_table *table, const struct field *fields,
                size_t field_count)
{
    struct value *row;

    if (!table || (!table->columns && !set_columns(report, table, fields, field_count)))
        return;
    MT_ASSERT(field_count == table->column_count);
    row = row_add(report, &table->rows);
    for (size_t i = 0; row && i < field_count; i++) {
        MT_ASSERT(strcmp(fields[i].key, table->columns[i].key) == 0);
        row[i] = copy_value(report, fields[i].value);
    }
}

void report_table_remark(struct report *report, struct report_table *table, const char *format, ...)
{
    const char **row = table ? row_add(report, &table->remarks) : NULL;
    va_list arguments;

    if (!row)
        return;
    va_start(arguments, format);
    *row = sentence_list(&report->arena, format, arguments);
    va_end(arguments);
}

const struct report_series *report_series(struct report *report, enum value_kind kind,
                                          const uint64_t *numbers, size_t count)
{
    struct report_series *series = arena_alloc(&report->arena, sizeof(*series));
    uint64_t *copies = arena_alloc(&report->arena, count * sizeof(*copies));
    static const struct report_series empty;

    if (!series || !copies)
        return &empty;
    if (count)
        memcpy(copies, numbers, count * sizeof(*copies));
    *series = (struct report_series){copies, count, kind};
    return series;
}

struct value report_stack(struct report *report, const struct report_frame *frames, size_t count)
{
    const struct report_stack *stack = report_stacks_put(&report->stacks, frames, count);

    return stack ? (struct value){.kind = VALUE_STACK, .stack = stack} : value_none();
}

struct report_dataset *report_dataset(struct report *report, const char *name, size_t column_count)
{
    struct report_dataset *dataset = row_add(report, &report->datasets);

    if (!dataset)
        return NULL;
    dataset->name = copy(report, name);
    dataset->columns = arena_alloc(&report->arena, column_count * sizeof(*dataset->columns));
    dataset->capacity = dataset->columns ? column_count : 0;
    return dataset;
}

static void dataset_add(struct report *report, struct report_dataset *dataset,
                        const struct report_dataset_column *column)
{
    if (dataset && dataset->column_count < dataset->capacity && (column->numbers || column->texts))
        dataset->columns[dataset->column_count++] = *column;
    else
        report->arena.has_failed = true;
}

void report_dataset_numbers(struct report *report, struct report_dataset *dataset, const char *key,
                            const uint64_t *numbers, size_t count)
{
    uint64_t *copies = arena_alloc(&report->arena, (count + 1) * sizeof(*copies));

    if (copies && count)
        memcpy(copies, numbers, count * sizeof(*copies));
    dataset_add(report, dataset,
                &(struct report_dataset_column){copy(report, key), copies, NULL, count});
}

void report_dataset_texts(struct report *report, struct report_dataset *dataset, const char *key,
                          const char *const *texts, size_t count)
{
    const char **copies = arena_alloc(&report->arena, (count + 1) * sizeof(*copies));

    for (size_t i = 0; copies && i < count; i++)
        copies[i] = copy(report, texts[i]);
    dataset_add(report, dataset,
                &(struct report_dataset_column){copy(report, key), NULL, copies, count});
}

void report_note(struct report *report, uint64_t count, const char *sentence)
{
    struct note_row *row = row_add(report, &report->notes);

    if (row)
        *row = (struct note_row){copy(report, translated(sentence)), count};
}

const char *report_command(const struct report *report)
{
    return report->command;
}

enum report_outcome report_outcome_of(const struct report *report)
{
    return report->outcome;
}

size_t report_verdict_count(const struct report *report)
{
    return report->verdicts.count;
}

const char *report_verdict_at(const struct report *report, size_t index)
{
    return ((const struct verdict_row *)table_at(&report->verdicts, index))->sentence;
}

size_t report_fact_count(const struct report *report)
{
    return report->facts.count;
}

const struct field *report_fact_at(const struct report *report, size_t index)
{
    return table_at(&report->facts, index);
}

size_t report_finding_count(const struct report *report)
{
    return report->findings.count;
}

const struct finding *report_finding_at(const struct report *report, size_t index)
{
    return table_at(&report->findings, index);
}

size_t report_table_count(const struct report *report)
{
    return report->tables.count;
}

struct report_table_view report_table_at(const struct report *report, size_t index)
{
    const struct report_table *table = table_at(&report->tables, index);

    return (struct report_table_view){
        .name = table->name,
        .ledger = table->ledger,
        .title = table->title,
        .when_empty = table->when_empty,
        .columns = table->columns,
        .column_count = table->column_count,
        .row_count = table->rows.count,
        .remark_count = table->remarks.count,
    };
}

const struct value *report_row_at(const struct report *report, size_t table, size_t row)
{
    const struct report_table *found = table_at(&report->tables, table);

    return table_at(&found->rows, row);
}

const char *report_remark_at(const struct report *report, size_t table, size_t remark)
{
    const struct report_table *found = table_at(&report->tables, table);

    return *(const char **)table_at(&found->remarks, remark);
}

const uint64_t *report_series_numbers(const struct report_series *series, size_t *count,
                                      enum value_kind *kind)
{
    *count = series->count;
    *kind = series->kind;
    return series->numbers;
}

size_t report_dataset_count(const struct report *report)
{
    return report->datasets.count;
}

struct report_dataset_view report_dataset_at(const struct report *report, size_t index)
{
    const struct report_dataset *dataset = table_at(&report->datasets, index);

    return (struct report_dataset_view){dataset->name, dataset->columns, dataset->column_count};
}

size_t report_note_count(const struct report *report)
{
    return report->notes.count;
}

const char *report_note_at(const struct report *report, size_t index, uint64_t *count)
{
    const struct note_row *row = table_at(&report->notes, index);

    *count = row->count;
    return row->sentence;
}
