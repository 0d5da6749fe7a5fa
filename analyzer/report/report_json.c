/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report for programs. docs/json-schema.md is the contract; REPORT_JSON_VERSION its number.
 *
 * Numbers are integers; their unit is the end of their key. What is not known is null.
 */
#include <inttypes.h>

#include "json_text.h"
#include "report.h"
#include "text_builder.h"

enum { REPORT_JSON_VERSION = 1 };

static void add_series(struct text_builder *text, const struct report_series *series)
{
    size_t count;
    enum value_kind kind;
    const uint64_t *numbers = report_series_numbers(series, &count, &kind);

    text_add(text, "[");
    for (size_t i = 0; i < count; i++)
        text_add_format(text, "%s%" PRIu64, i ? ", " : "", numbers[i]);
    text_add(text, "]");
}

static void add_text_member(struct text_builder *text, const char *key, const char *value)
{
    if (!*value)
        return;
    text_add_format(text, ", \"%s\": ", key);
    text_add_json(text, value);
}

/* What is not known is left out: stacks are long. */
static void add_stack(struct text_builder *text, const struct report_stack *stack)
{
    size_t count;
    const struct report_frame *frames = report_stack_frames(stack, &count);

    text_add(text, "[");
    for (size_t i = 0; i < count; i++) {
        text_add(text, i ? ", {\"function\": " : "{\"function\": ");
        text_add_json(text, frames[i].function);
        add_text_member(text, "file", frames[i].file);
        if (frames[i].line)
            text_add_format(text, ", \"line\": %" PRIu32, frames[i].line);
        add_text_member(text, "module", frames[i].module);
        text_add(text, frames[i].is_inlined ? ", \"is_inlined\": true" : "");
        text_add(text, frames[i].folded_as ? ", \"is_plumbing\": true}" : "}");
    }
    text_add(text, "]");
}

static void add_value(struct text_builder *text, const struct value *value)
{
    switch (value->kind) {
    case VALUE_NONE:
        text_add(text, "null");
        break;
    case VALUE_TEXT:
        text_add_json(text, value->text);
        break;
    case VALUE_BYTES_CHANGE:
    case VALUE_COUNT_CHANGE:
        text_add_format(text, "%" PRId64, value->change);
        break;
    case VALUE_SERIES:
        add_series(text, value->series);
        break;
    case VALUE_STACK:
        add_stack(text, value->stack);
        break;
    case VALUE_FLAG:
        text_add(text, value->number ? "true" : "false");
        break;
    default:
        text_add_format(text, "%" PRIu64, value->number);
        break;
    }
}

static void add_member(struct text_builder *text, const char *key, const struct value *value)
{
    text_add_json(text, key);
    text_add(text, ": ");
    add_value(text, value);
}

static void add_verdicts(struct text_builder *text, const struct report *report)
{
    static const char *const outcomes[] = {
        [REPORT_FINE] = "fine", [REPORT_NO_DATA] = "no data", [REPORT_FOUND] = "found"};

    text_add_format(text, "  \"outcome\": \"%s\",\n  \"verdict\": [",
                    outcomes[report_outcome_of(report)]);
    for (size_t i = 0; i < report_verdict_count(report); i++) {
        text_add(text, i ? ", " : "");
        text_add_json(text, report_verdict_at(report, i));
    }
    text_add(text, "],\n");
}

static void add_facts(struct text_builder *text, const struct report *report)
{
    text_add(text, "  \"facts\": {");
    for (size_t i = 0; i < report_fact_count(report); i++) {
        text_add(text, i ? ",\n    " : "\n    ");
        add_member(text, report_fact_at(report, i)->key, &report_fact_at(report, i)->value);
    }
    text_add(text, "\n  },\n");
}

static void add_findings(struct text_builder *text, const struct report *report)
{
    text_add(text, "  \"findings\": [");
    for (size_t i = 0; i < report_finding_count(report); i++) {
        const struct finding *finding = report_finding_at(report, i);

        text_add(text, i ? ",\n    {\"kind\": " : "\n    {\"kind\": ");
        text_add_json(text, finding->kind);
        text_add(text, ", \"sentence\": ");
        text_add_json(text, finding->sentence);
        for (size_t f = 0; f < finding->fact_count; f++) {
            text_add(text, ", ");
            add_member(text, finding->facts[f].key, &finding->facts[f].value);
        }
        text_add(text, "}");
    }
    text_add(text, "\n  ],\n");
}

static void add_table(struct text_builder *text, const struct report *report, size_t table)
{
    struct report_table_view view = report_table_at(report, table);

    text_add(text, table ? ",\n    " : "\n    ");
    text_add_json(text, view.name);
    text_add(text, ": [");
    for (size_t r = 0; r < view.row_count; r++) {
        const struct value *row = report_row_at(report, table, r);

        text_add(text, r ? ",\n      {" : "\n      {");
        for (size_t c = 0; c < view.column_count; c++) {
            text_add(text, c ? ", " : "");
            add_member(text, view.columns[c].key, &row[c]);
        }
        text_add(text, "}");
    }
    text_add(text, "]");
}

static void add_notes(struct text_builder *text, const struct report *report)
{
    text_add(text, "  \"notes\": [");
    for (size_t i = 0; i < report_note_count(report); i++) {
        uint64_t count;
        const char *sentence = report_note_at(report, i, &count);

        text_add_format(text, "%s{\"count\": %" PRIu64 ", \"sentence\": ", i ? ",\n    " : "\n    ",
                        count);
        text_add_json(text, sentence);
        text_add(text, "}");
    }
    text_add(text, "\n  ]\n}\n");
}

bool report_write_json(const struct report *report, FILE *out)
{
    struct text_builder text;
    bool is_ok;

    text_init(&text);
    text_add_format(&text, "{\n  \"format\": \"memtide-report\",\n  \"version\": %d,\n",
                    REPORT_JSON_VERSION);
    text_add(&text, "  \"command\": ");
    text_add_json(&text, report_command(report));
    text_add(&text, ",\n");
    add_verdicts(&text, report);
    add_facts(&text, report);
    add_findings(&text, report);
    text_add(&text, "  \"tables\": {");
    for (size_t i = 0; i < report_table_count(report); i++)
        add_table(&text, report, i);
    text_add(&text, "\n  },\n");
    add_notes(&text, report);
    is_ok = !text.has_failed && fwrite(text_get(&text), 1, text.size_bytes, out) == text.size_bytes;
    text_release(&text);
    return is_ok;
}
