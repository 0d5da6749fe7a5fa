/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict as SARIF 2.1.0, for code scanning: a result for everything that did not just pass, at
 * the line of the program where that is known, else at the line of the policy.
 *
 * Source: OASIS Static Analysis Results Interchange Format 2.1.0.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "gate_writers.h"
#include "hash.h"
#include "json_text.h"

/* RFC 3986: what is not plain is %XX. Absolute paths become file URIs. */
static void add_uri(struct text_builder *text, const char *path)
{
    text_add(text, "\"");
    if (*path == '/')
        text_add(text, "file://");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if (c < 0x80 && (isalnum(c) || strchr("-._~/", c)))
            text_add_char(text, (char)c, 1);
        else
            text_add_format(text, "%%%02X", c);
    }
    text_add(text, "\"");
}

static void add_location(const struct gate_verdict *verdict, struct text_builder *text,
                         const struct gate_case *row)
{
    const struct gate_place place = gate_place_of(verdict, row);

    text_add(text,
             "          \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
    add_uri(text, place.file);
    text_add_format(text, "}, \"region\": {\"startLine\": %" PRIu32 "}}", place.line);
    if (row->where.function[0]) {
        text_add(text, ", \"logicalLocations\": [{\"name\": ");
        text_add_json(text, row->where.function);
        text_add(text, ", \"kind\": \"function\"}]");
    }
    text_add(text, "}],\n");
}

static void add_result(const struct gate_verdict *verdict, struct text_builder *text,
                       const struct gate_case *row)
{
    static const char *const levels[CASE_OUTCOME_COUNT] = {
        [CASE_PASSED] = "none",    [CASE_SUPPRESSED] = "error", [CASE_REMARK] = "note",
        [CASE_UNSURE] = "warning", [CASE_INCOMPLETE] = "error", [CASE_FAILED] = "error",
    };
    size_t rule = gate_rule_index(row->rule);

    text_add_format(
        text, "        {\n          \"ruleId\": \"%s\", \"ruleIndex\": %zu, \"level\": \"%s\",\n",
        gate_rules[rule].id, rule, levels[row->outcome]);
    text_add(text, "          \"message\": {\"text\": ");
    text_add_json(text, row->sentence);
    text_add(text, "},\n");
    add_location(verdict, text, row);
    if (row->outcome == CASE_SUPPRESSED)
        text_add(text, "          \"suppressions\": [{\"kind\": \"external\"}],\n");
    text_add_format(text,
                    "          \"partialFingerprints\": {\"memtideKey/v1\": \"%016" PRIx64
                    "\"}\n        }",
                    hash_bytes(row->key, strlen(row->key)));
}

static void add_rules(struct text_builder *text)
{
    for (size_t i = 0; i < gate_rule_count; i++)
        text_add_format(
            text, "            {\"id\": \"%s\", \"shortDescription\": {\"text\": \"%s\"}}%s\n",
            gate_rules[i].id, gate_rules[i].meaning, i + 1 < gate_rule_count ? "," : "");
}

void gate_write_sarif(const struct gate_verdict *verdict, struct text_builder *text)
{
    bool is_first = true;

    text_add(text, "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
                   "  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n"
                   "      \"tool\": {\n        \"driver\": {\n          \"name\": \"memtide\", "
                   "\"semanticVersion\": \"" MEMTIDE_VERSION "\",\n"
                   "          \"rules\": [\n");
    add_rules(text);
    text_add(text, "          ]\n        }\n      },\n      \"results\": [\n");
    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (row->outcome == CASE_PASSED)
            continue;
        text_add(text, is_first ? "" : ",\n");
        add_result(verdict, text, row);
        is_first = false;
    }
    text_add(text, is_first ? "      ]\n    }\n  ]\n}\n" : "\n      ]\n    }\n  ]\n}\n");
}
