/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report for programs. docs/json-schema.md and the schema that it names are the contract;
 * REPORT_JSON_VERSION is its number.
 *
 * Numbers are integers; their unit is the end of their key. What is not known is null.
 */
#include <inttypes.h>

#include "json_page.h"
#include "report_json.h"

enum { REPORT_JSON_VERSION = 2 };

struct writer {
    struct outlet *out;
    struct json_page *page; /* NULL: all is in the JSON itself */
};

static void add_series(struct outlet *out, const struct report_series *series)
{
    size_t count;
    enum value_kind kind;
    const uint64_t *numbers = report_series_numbers(series, &count, &kind);

    outlet_add(out, "[");
    for (size_t i = 0; i < count; i++) {
        outlet_add_either(out, i, ", ", "");
        outlet_number(out, numbers[i]);
    }
    outlet_add(out, "]");
}

/* Words of a fixed list, as programs compare them: "growing cache" is growing_cache. */
static void add_word(struct outlet *out, const char *word)
{
    char key[64];
    size_t length = 0;

    for (; word[length] && length + 1 < sizeof(key); length++)
        key[length] = word[length] == ' ' || word[length] == '-' ? '_' : word[length];
    key[length] = '\0';
    outlet_words(out, key);
}

static void add_text(struct outlet *out, const char *text)
{
    if (text && *text)
        outlet_words(out, text);
    else
        outlet_add(out, "null");
}

static void add_text_member(struct outlet *out, const char *key, const char *value)
{
    if (!*value)
        return;
    outlet_format(out, ", %s: ", key);
    outlet_words(out, value);
}

/* What is not known is left out: stacks are long. */
static void add_stack(struct outlet *out, const struct report_stack *stack)
{
    outlet_add(out, "[");
    for (const struct report_stack *at = stack; at; at = at->caller) {
        outlet_add_either(out, at != stack, ", {\"function\": ", "{\"function\": ");
        outlet_words(out, at->frame->function);
        add_text_member(out, "file", at->frame->file);
        if (at->frame->line)
            outlet_format(out, ", \"line\": %" PRIu32, at->frame->line);
        add_text_member(out, "module", at->frame->module);
        outlet_add_either(out, at->frame->is_inlined, ", \"is_inlined\": true", "");
        outlet_add_either(out, at->frame->folded_as, ", \"is_plumbing\": true}", "}");
    }
    outlet_add(out, "]");
}

static void add_value(const struct writer *writer, const struct value *value)
{
    struct outlet *out = writer->out;

    switch (value->kind) {
    case VALUE_NONE:
    case VALUE_UNKNOWN:
        outlet_add(out, "null");
        break;
    case VALUE_TEXT:
        add_text(out, value->text);
        break;
    case VALUE_WORD:
        add_word(out, value->text);
        break;
    case VALUE_BYTES_CHANGE:
    case VALUE_COUNT_CHANGE:
        outlet_format(out, "%" PRId64, value->change);
        break;
    case VALUE_SERIES:
        add_series(out, value->series);
        break;
    case VALUE_STACK:
        if (writer->page)
            outlet_number(out, json_page_put_stack(writer->page, value->stack));
        else
            add_stack(out, value->stack);
        break;
    case VALUE_FLAG:
        outlet_add_either(out, value->number, "true", "false");
        break;
    default:
        outlet_format(out, "%" PRIu64, value->number);
        break;
    }
}

static void add_member(const struct writer *writer, const char *key, const struct value *value)
{
    outlet_words(writer->out, key);
    outlet_add(writer->out, ": ");
    add_value(writer, value);
}

static void add_verdicts(struct outlet *out, const struct report *report)
{
    static const char *const outcomes[] = {
        [REPORT_FINE] = "fine", [REPORT_NO_DATA] = "no_data", [REPORT_FOUND] = "found"};

    outlet_format(out, "  \"outcome\": %s,\n  \"verdict\": [", outcomes[report_outcome_of(report)]);
    for (size_t i = 0; i < report_verdict_count(report); i++) {
        outlet_add_either(out, i, ", ", "");
        outlet_words(out, report_verdict_at(report, i));
    }
    outlet_add(out, "],\n");
}

static void add_facts(const struct writer *writer, const struct report *report)
{
    struct outlet *out = writer->out;

    outlet_add(out, "  \"facts\": {");
    for (size_t i = 0; i < report_fact_count(report); i++) {
        outlet_add_either(out, i, ",\n    ", "\n    ");
        add_member(writer, report_fact_at(report, i)->key, &report_fact_at(report, i)->value);
    }
    outlet_add(out, "\n  },\n");
}

static void add_findings(const struct writer *writer, const struct report *report)
{
    struct outlet *out = writer->out;

    outlet_add(out, "  \"findings\": [");
    for (size_t i = 0; i < report_finding_count(report); i++) {
        const struct finding *finding = report_finding_at(report, i);

        outlet_add_either(out, i, ",\n    {\"kind\": ", "\n    {\"kind\": ");
        outlet_words(out, finding->kind);
        outlet_add(out, ", \"sentence\": ");
        outlet_words(out, finding->sentence);
        for (size_t f = 0; f < finding->fact_count; f++) {
            outlet_add(out, ", ");
            add_member(writer, finding->facts[f].key, &finding->facts[f].value);
        }
        outlet_add(out, "}");
    }
    outlet_add(out, "\n  ],\n");
}

static void add_table(const struct writer *writer, const struct report *report, size_t table)
{
    struct outlet *out = writer->out;
    struct report_table_view view = report_table_at(report, table);
    size_t row_count =
        writer->page ? json_page_take_rows(writer->page, report, table) : view.row_count;

    outlet_add_either(out, table, ",\n    ", "\n    ");
    outlet_add(out, "{\"name\": ");
    outlet_words(out, view.name);
    outlet_add(out, ", \"ledger\": ");
    add_text(out, view.ledger);
    if (writer->page)
        outlet_format(out, ", \"row_count\": %zu", view.row_count);
    outlet_add(out, ", \"rows\": [");
    for (size_t r = 0; r < row_count; r++) {
        const struct value *row = report_row_at(report, table, r);

        outlet_add_either(out, r, ",\n      {", "\n      {");
        for (size_t c = 0; c < view.column_count; c++) {
            outlet_add_either(out, c, ", ", "");
            add_member(writer, view.columns[c].key, &row[c]);
        }
        outlet_add(out, "}");
    }
    outlet_add(out, "]}");
}

static void add_notes(struct outlet *out, const struct report *report)
{
    outlet_add(out, "  \"notes\": [");
    for (size_t i = 0; i < report_note_count(report); i++) {
        uint64_t count;
        const char *sentence = report_note_at(report, i, &count);

        outlet_add_either(out, i, ",\n    ", "\n    ");
        outlet_format(out, "{\"count\": %" PRIu64 ", \"sentence\": ", count);
        outlet_words(out, sentence);
        outlet_add(out, "}");
    }
    outlet_add(out, "\n  ]\n}\n");
}

static void write_all(const struct writer *writer, const struct report *report)
{
    struct outlet *out = writer->out;

    outlet_format(out, "{\n  \"format\": \"leaktide-report\",\n  \"version\": %d,\n",
                  REPORT_JSON_VERSION);
    outlet_format(out, "  \"command\": %s,\n", report_command(report));
    add_verdicts(out, report);
    add_facts(writer, report);
    add_findings(writer, report);
    outlet_add(out, "  \"tables\": [");
    for (size_t i = 0; i < report_table_count(report); i++)
        add_table(writer, report, i);
    outlet_add(out, "\n  ],\n");
    add_notes(out, report);
}

void report_write_json(const struct report *report, struct outlet *out)
{
    write_all(&(struct writer){out, NULL}, report);
}

void report_write_page_json(const struct report *report, struct json_page *page, struct outlet *out)
{
    write_all(&(struct writer){out, page}, report);
}
