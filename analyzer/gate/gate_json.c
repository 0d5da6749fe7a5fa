/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict for programs. docs/gates.md has the schema; GATE_JSON_VERSION is its number.
 */
#include <inttypes.h>

#include "gate_writers.h"
#include "json_text.h"

enum { GATE_JSON_VERSION = 1 };

static const char *outcome_word(enum case_outcome outcome)
{
    static const char *const words[CASE_OUTCOME_COUNT] = {
        [CASE_PASSED] = "passed", [CASE_SUPPRESSED] = "suppressed", [CASE_REMARK] = "remark",
        [CASE_UNSURE] = "unsure", [CASE_INCOMPLETE] = "incomplete", [CASE_FAILED] = "failed",
    };

    return words[outcome];
}

static void add_pair(struct text_builder *text, const char *key, const char *value)
{
    text_add_format(text, ", \"%s\": ", key);
    text_add_json(text, value);
}

static void add_number(struct text_builder *text, const char *key, bool is_known, uint64_t number)
{
    if (is_known)
        text_add_format(text, ", \"%s\": %" PRIu64, key, number);
    else
        text_add_format(text, ", \"%s\": null", key);
}

static void add_case(struct text_builder *text, const struct gate_case *row)
{
    text_add(text, "    {\"key\": ");
    text_add_json(text, row->key);
    add_pair(text, "rule", row->rule);
    add_pair(text, "outcome", outcome_word(row->outcome));
    add_pair(text, "sentence", row->sentence);
    add_pair(text, "unit", row->unit ? row->unit : "none");
    add_number(text, "value", row->unit != NULL, row->value);
    add_number(text, "limit", row->has_limit, row->limit);
    add_number(text, "baseline", row->has_base, row->base);
    add_number(text, "policy_line", row->policy_line > 0, row->policy_line);
    add_pair(text, "function", row->where.function);
    add_pair(text, "file", row->where.file);
    add_number(text, "line", row->where.line > 0, row->where.line);
    text_add(text, "}");
}

void gate_write_json(const struct gate_verdict *verdict, struct text_builder *text)
{
    struct text_builder headline;

    text_init(&headline);
    gate_add_headline(verdict, &headline);
    text_add_format(text, "{\n  \"memtide_gate\": %d,\n  \"outcome\": \"%s\",\n  \"headline\": ",
                    GATE_JSON_VERSION, outcome_word(gate_worst(verdict)));
    text_add_json(text, text_get(&headline));
    text_release(&headline);
    text_add(text, ",\n  \"policy\": ");
    text_add_json(text, verdict->policy_path);
    text_add(text, ",\n  \"baseline\": ");
    if (verdict->baseline_path)
        text_add_json(text, verdict->baseline_path);
    else
        text_add(text, "null");
    text_add_format(text, ",\n  \"recordings\": %zu,\n  \"steps\": %" PRIu32 ",\n  \"cases\": [\n",
                    verdict->recording_count, verdict->step_count);
    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        add_case(text, gate_case_at(verdict, i));
        text_add(text, i + 1 < gate_case_count(verdict) ? ",\n" : "\n");
    }
    text_add(text, "  ]\n}\n");
}
