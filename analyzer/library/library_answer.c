/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements leaktide/answer.h: a report, read value by value or written.
 */
#include "library_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "callback_file.h"
#include "memory_failures.h"
#include "taken_options.h"
#include "text_builder.h"

struct mt_table {
    const struct report *report;
    size_t index;
    struct report_table_view view;
};

struct mt_answer {
    struct report *report;
    struct mt_table *tables;
    size_t memory_failures; /* when it was whole */
};

enum mt_result answer_give(struct report *report, enum mt_result result, struct mt_answer **out,
                           struct mt_error *error)
{
    struct mt_answer *answer = calloc(1, sizeof(*answer));

    if (!answer) {
        report_destroy(report);
        return mt_error_set(error, MT_NO_MEMORY, "no memory for an answer");
    }
    answer->report = report;
    if (result == MT_OK)
        result = report_status(report, error);
    if (result == MT_OK) {
        answer->tables = calloc(report_table_count(report) + 1, sizeof(*answer->tables));
        if (!answer->tables)
            result = mt_error_set(error, MT_NO_MEMORY, "no memory for an answer");
    }
    answer->memory_failures = memory_failure_count();
    if (result != MT_OK) {
        mt_answer_close(answer);
        return result;
    }
    for (size_t i = 0; i < report_table_count(report); i++)
        answer->tables[i] = (struct mt_table){report, i, report_table_at(report, i)};
    *out = answer;
    return MT_OK;
}

void mt_answer_close(struct mt_answer *answer)
{
    if (!answer)
        return;
    report_destroy(answer->report);
    free(answer->tables);
    free(answer);
}

enum mt_outcome mt_answer_outcome(const struct mt_answer *answer)
{
    static const enum mt_outcome outcomes[] = {
        [REPORT_FINE] = MT_OUTCOME_FINE,
        [REPORT_NO_DATA] = MT_OUTCOME_NO_DATA,
        [REPORT_FOUND] = MT_OUTCOME_FOUND,
    };

    return outcomes[report_outcome_of(answer->report)];
}

size_t mt_answer_verdict_count(const struct mt_answer *answer)
{
    return report_verdict_count(answer->report);
}

const char *mt_answer_verdict_at(const struct mt_answer *answer, size_t index)
{
    if (index >= report_verdict_count(answer->report))
        return NULL;
    return report_verdict_at(answer->report, index);
}

const char *mt_answer_note_at(const struct mt_answer *answer, size_t index, uint64_t *count)
{
    uint64_t ignored;

    if (index >= report_note_count(answer->report))
        return NULL;
    return report_note_at(answer->report, index, count ? count : &ignored);
}

/* To the caller a value is a name; here it is a value of the report. */
static const struct mt_value *value_lend(const struct value *value)
{
    return (const struct mt_value *)value;
}

static const struct mt_value *fact_lend(const struct field *fact, const char **key)
{
    if (key)
        *key = fact->key;
    return value_lend(&fact->value);
}

const struct mt_value *mt_answer_fact_at(const struct mt_answer *answer, size_t index,
                                         const char **key)
{
    if (index >= report_fact_count(answer->report))
        return NULL;
    return fact_lend(report_fact_at(answer->report, index), key);
}

const struct mt_value *mt_answer_fact(const struct mt_answer *answer, const char *key)
{
    const struct mt_value *value;
    const char *at;

    for (size_t i = 0; (value = mt_answer_fact_at(answer, i, &at)); i++)
        if (strcmp(at, key) == 0)
            return value;
    return NULL;
}

const struct mt_finding *mt_answer_finding_at(const struct mt_answer *answer, size_t index)
{
    if (index >= report_finding_count(answer->report))
        return NULL;
    return (const struct mt_finding *)report_finding_at(answer->report, index);
}

static const struct finding *finding_of(const struct mt_finding *finding)
{
    return (const struct finding *)finding;
}

const char *mt_finding_kind(const struct mt_finding *finding)
{
    return finding_of(finding)->kind;
}

const char *mt_finding_sentence(const struct mt_finding *finding)
{
    return finding_of(finding)->sentence;
}

const struct mt_value *mt_finding_value_at(const struct mt_finding *finding, size_t index,
                                           const char **key)
{
    if (index >= finding_of(finding)->fact_count)
        return NULL;
    return fact_lend(&finding_of(finding)->facts[index], key);
}

const struct mt_value *mt_finding_value(const struct mt_finding *finding, const char *key)
{
    const struct mt_value *value;
    const char *at;

    for (size_t i = 0; (value = mt_finding_value_at(finding, i, &at)); i++)
        if (strcmp(at, key) == 0)
            return value;
    return NULL;
}

const struct mt_table *mt_answer_table_at(const struct mt_answer *answer, size_t index)
{
    return index < report_table_count(answer->report) ? &answer->tables[index] : NULL;
}

const char *mt_table_name(const struct mt_table *table)
{
    return table->view.name;
}

const char *mt_table_title(const struct mt_table *table)
{
    return table->view.title;
}

const char *mt_table_ledger(const struct mt_table *table)
{
    return table->view.ledger;
}

size_t mt_table_row_count(const struct mt_table *table)
{
    return table->view.row_count;
}

size_t mt_table_column_count(const struct mt_table *table)
{
    return table->view.column_count;
}

const char *mt_table_column_at(const struct mt_table *table, size_t column, const char **title)
{
    if (column >= table->view.column_count)
        return NULL;
    if (title)
        *title = table->view.columns[column].title;
    return table->view.columns[column].key;
}

const struct mt_value *mt_table_value(const struct mt_table *table, size_t row, size_t column)
{
    if (row >= table->view.row_count || column >= table->view.column_count)
        return NULL;
    return value_lend(&report_row_at(table->report, table->index, row)[column]);
}

const char *mt_table_remark_at(const struct mt_table *table, size_t index)
{
    if (index >= table->view.remark_count)
        return NULL;
    return report_remark_at(table->report, table->index, index);
}

/* What the report calls a kind, and what the library promises to call it. */
static const enum mt_value_kind kinds[] = {
    [VALUE_NONE] = MT_VALUE_NONE,       [VALUE_TEXT] = MT_VALUE_TEXT,
    [VALUE_BYTES] = MT_VALUE_BYTES,     [VALUE_BYTES_CHANGE] = MT_VALUE_BYTES_CHANGE,
    [VALUE_COUNT] = MT_VALUE_COUNT,     [VALUE_COUNT_CHANGE] = MT_VALUE_COUNT_CHANGE,
    [VALUE_TIME_NS] = MT_VALUE_TIME_NS, [VALUE_DURATION_NS] = MT_VALUE_DURATION_NS,
    [VALUE_EVENT] = MT_VALUE_COUNT,     [VALUE_EVENT_COUNT] = MT_VALUE_COUNT,
    [VALUE_STEP] = MT_VALUE_STEP,       [VALUE_PERCENT] = MT_VALUE_PERCENT,
    [VALUE_FLAG] = MT_VALUE_FLAG,       [VALUE_SERIES] = MT_VALUE_SERIES,
    [VALUE_STACK] = MT_VALUE_STACK,     [VALUE_WORD] = MT_VALUE_WORD,
    [VALUE_UNKNOWN] = MT_VALUE_NONE,
};

static const struct value *value_of(const struct mt_value *value)
{
    static const struct value none = {.kind = VALUE_NONE};

    return value ? (const struct value *)value : &none;
}

enum mt_value_kind mt_value_kind(const struct mt_value *value)
{
    return kinds[value_of(value)->kind];
}

int64_t mt_value_change(const struct mt_value *value)
{
    enum mt_value_kind kind = mt_value_kind(value);

    return kind == MT_VALUE_BYTES_CHANGE || kind == MT_VALUE_COUNT_CHANGE ? value_of(value)->change
                                                                          : 0;
}

uint64_t mt_value_number(const struct mt_value *value)
{
    switch (mt_value_kind(value)) {
    case MT_VALUE_BYTES:
    case MT_VALUE_COUNT:
    case MT_VALUE_TIME_NS:
    case MT_VALUE_DURATION_NS:
    case MT_VALUE_STEP:
    case MT_VALUE_PERCENT:
    case MT_VALUE_FLAG:
        return value_of(value)->number;
    default:
        return 0;
    }
}

const char *mt_value_text(const struct mt_value *value)
{
    enum mt_value_kind kind = mt_value_kind(value);

    return kind == MT_VALUE_TEXT || kind == MT_VALUE_WORD ? value_of(value)->text : "";
}

const uint64_t *mt_value_series(const struct mt_value *value, size_t *count, enum mt_value_kind *of)
{
    enum value_kind kind;
    const uint64_t *numbers;

    *count = 0;
    if (mt_value_kind(value) != MT_VALUE_SERIES)
        return NULL;
    numbers = report_series_numbers(value_of(value)->series, count, &kind);
    if (of)
        *of = kinds[kind];
    return numbers;
}

bool mt_value_frame_at(const struct mt_value *stack, size_t index, struct mt_frame *frame)
{
    const struct report_stack *at;

    if (mt_value_kind(stack) != MT_VALUE_STACK || index >= value_of(stack)->stack->depth)
        return false;
    for (at = value_of(stack)->stack; index; index--)
        at = at->caller;
    *frame =
        (struct mt_frame){at->frame->function, at->frame->file,       at->frame->module,
                          at->frame->line,     at->frame->is_inlined, at->frame->folded_as != NULL};
    return true;
}

/* None has that name: which there are. */
static enum mt_result table_check(const struct mt_answer *answer, const char *name,
                                  struct mt_error *error)
{
    struct text_builder known;
    const char *last = "";
    enum mt_result result;

    for (size_t i = 0; i < report_table_count(answer->report); i++)
        if (strcmp(answer->tables[i].view.name, name) == 0)
            return MT_OK;
    text_init(&known);
    for (size_t i = 0; i < report_table_count(answer->report); i++) {
        if (strcmp(answer->tables[i].view.name, last) != 0)
            text_add_format(&known, "%s%s", *last ? ", " : "", answer->tables[i].view.name);
        last = answer->tables[i].view.name;
    }
    result = mt_error_of(error, "table",
                         mt_error_set(error, MT_USAGE, "there is no table %s here; there are: %s",
                                      name, text_get(&known)));
    text_release(&known);
    return result;
}

enum mt_result shown_take(const struct mt_write_options *options, struct report_shown *shown,
                          struct mt_error *error)
{
    struct mt_write_options whole = {.size_bytes = sizeof(whole)};
    enum mt_result result = options_take(&whole, sizeof(whole), options, error);

    *shown = (struct report_shown){
        .look = {.columns = whole.columns,
                 .has_colours = (whole.flags & MT_WRITE_COLOURS) != 0,
                 .has_links = (whole.flags & MT_WRITE_LINKS) != 0},
        .lines = whole.lines,
        .is_wide = (whole.flags & MT_WRITE_WIDE) != 0,
        .has_sources = (whole.flags & MT_WRITE_SOURCES) != 0,
        .table = whole.table,
    };
    return result;
}

enum mt_result mt_answer_write_with(const struct mt_answer *answer, const char *format,
                                    const struct mt_write_options *options, FILE *out,
                                    struct mt_error *error)
{
    const struct report_writer *writer = report_writer_find(format);
    struct report_shown shown;
    enum mt_result result = shown_take(options, &shown, error);

    if (result == MT_OK && shown.table)
        result = table_check(answer, shown.table, error);
    if (result != MT_OK)
        return result;
    if (!writer)
        return mt_error_set(error, MT_USAGE, "there is no format named %s", format);
    errno = 0;
    if (report_write(writer, answer->report, &shown, out) && fflush(out) == 0)
        return memory_status(answer->memory_failures, error);
    if (errno == ENOMEM) /* of a library that compresses */
        memory_failure_note();
    if (memory_failure_count() != answer->memory_failures)
        return memory_status(answer->memory_failures, error);
    return mt_error_set(error, MT_IO, "the answer cannot be written: %s",
                        strerror(errno ? errno : EIO));
}

enum mt_result mt_answer_write(const struct mt_answer *answer, const char *format, FILE *out,
                               struct mt_error *error)
{
    return mt_answer_write_with(answer, format, NULL, out, error);
}

enum mt_result mt_answer_write_to(const struct mt_answer *answer, const char *format,
                                  mt_write_function write, void *context, struct mt_error *error)
{
    FILE *out = callback_file_open(write, context, error);
    enum mt_result result;

    if (!out)
        return MT_NO_MEMORY;
    result = mt_answer_write(answer, format, out, error);
    fclose(out);
    return result;
}

const char *mt_format_at(size_t index, const char **meaning)
{
    const struct report_writer *writer = report_writers;

    while (writer->name && index--)
        writer++;
    if (writer->name && meaning)
        *meaning = writer->meaning;
    return writer->name;
}
