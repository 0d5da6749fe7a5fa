/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict for programs. docs/gates.md and docs/schema/leaktide-gate-2.schema.json are the
 * contract; GATE_JSON_VERSION is its number.
 */
#include <inttypes.h>

#include "gate_writers.h"

enum { GATE_JSON_VERSION = 2 };

/* null where nothing is known. */
static void add_text(struct outlet *out, const char *text)
{
    if (text && *text)
        outlet_words(out, text);
    else
        outlet_add(out, "null");
}

static void add_pair(struct outlet *out, const char *key, const char *value)
{
    outlet_format(out, ", %s: ", key);
    add_text(out, value);
}

static void add_number(struct outlet *out, const char *key, bool is_known, uint64_t number)
{
    if (is_known)
        outlet_format(out, ", %s: %" PRIu64, key, number);
    else
        outlet_format(out, ", %s: null", key);
}

static void add_case(struct outlet *out, const struct gate_case *row)
{
    outlet_add(out, "    {\"key\": ");
    outlet_words(out, row->key);
    add_pair(out, "rule", row->rule);
    add_pair(out, "outcome", case_outcome_word(row->outcome));
    add_pair(out, "sentence", row->sentence);
    add_pair(out, "unit", row->unit);
    add_number(out, "value", row->unit != NULL, row->value);
    add_number(out, "limit", row->has_limit, row->limit);
    add_number(out, "baseline", row->has_base, row->base);
    add_number(out, "policy_line", row->policy_line > 0, row->policy_line);
    add_pair(out, "function", row->where.function);
    add_pair(out, "file", row->where.file);
    add_number(out, "line", row->where.line > 0, row->where.line);
    outlet_add(out, "}");
}

void gate_write_json(const struct gate_verdict *verdict, struct outlet *out)
{
    outlet_format(out, "{\n  \"format\": \"leaktide-gate\",\n  \"version\": %d,\n",
                  GATE_JSON_VERSION);
    outlet_format(out,
                  "  \"outcome\": %s,\n  \"headline\": ", case_outcome_word(gate_worst(verdict)));
    gate_put_headline(verdict, out);
    outlet_add(out, ",\n  \"policy\": ");
    add_text(out, verdict->policy_path);
    outlet_add(out, ",\n  \"baseline\": ");
    add_text(out, verdict->baseline_path);
    outlet_format(out, ",\n  \"recordings\": %zu,\n  \"steps\": %" PRIu32 ",\n  \"cases\": [\n",
                  verdict->recording_count, verdict->step_count);
    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        add_case(out, gate_case_at(verdict, i));
        outlet_add_either(out, i + 1 < gate_case_count(verdict), ",\n", "\n");
    }
    outlet_add(out, "  ]\n}\n");
}
