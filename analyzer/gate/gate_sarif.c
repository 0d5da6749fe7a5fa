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

/* RFC 3986: what is not plain is %XX. Absolute paths become file URIs. */
static void add_uri(struct outlet *out, const char *path)
{
    struct text_builder uri;

    text_init(&uri);
    text_add(&uri, *path == '/' ? "file://" : "");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if (c < 0x80 && (isalnum(c) || strchr("-._~/", c)))
            text_add_char(&uri, (char)c, 1);
        else
            text_add_format(&uri, "%%%02X", c);
    }
    outlet_words(out, text_get(&uri));
    text_release(&uri);
}

/* The first members of a location. */
static void add_physical(struct outlet *out, const struct gate_place *place)
{
    outlet_add(out, "\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
    add_uri(out, place->file);
    outlet_format(out, "}, \"region\": {\"startLine\": %" PRIu32 "}}", place->line);
}

static void add_location(const struct gate_verdict *verdict, struct outlet *out,
                         const struct gate_case *row)
{
    const struct gate_place place = gate_place_of(verdict, row);

    outlet_add(out, "          \"locations\": [{");
    add_physical(out, &place);
    if (row->where.function[0]) {
        outlet_add(out, ", \"logicalLocations\": [{\"name\": ");
        outlet_words(out, row->where.function);
        outlet_add(out, ", \"kind\": \"function\"}]");
    }
    outlet_add(out, "}],\n");
}

/* Lines of the program; how allocators and frameworks do their work is left out. */
static bool is_in_flow(const struct symbol_frame *frame)
{
    return frame->file[0] && frame->line && (!frame->is_plumbing || frame->is_telling);
}

static void add_step(struct outlet *out, const struct symbol_frame *frame, bool is_first)
{
    struct arena arena;
    struct gate_place place;

    arena_init(&arena);
    place = (struct gate_place){project_path(place_file(&arena, frame->file)), frame->line};
    outlet_add_either(out, is_first, "", ",\n");
    outlet_add(out, "            {\"location\": {");
    add_physical(out, &place);
    outlet_add(out, ", \"message\": {\"text\": ");
    outlet_words(out, frame->function);
    outlet_add(out, "}}}");
    arena_release(&arena);
}

/* The calls that led there, from the outermost to the one that asked for memory. */
static void add_flow(struct outlet *out, const struct gate_case *row)
{
    size_t count, shown = 0;
    const struct symbol_frame *frames = place_frames(&row->where, &count);

    for (size_t i = 0; i < count; i++)
        shown += is_in_flow(&frames[i]);
    if (shown < 2)
        return;
    outlet_add(out, "          \"codeFlows\": [{\"threadFlows\": [{\"locations\": [\n");
    shown = 0;
    for (size_t i = count; i-- > 0;)
        if (is_in_flow(&frames[i]))
            add_step(out, &frames[i], !shown++);
    outlet_add(out, "]}]}],\n");
}

static void add_result(const struct gate_verdict *verdict, struct outlet *out,
                       const struct gate_case *row)
{
    static const char *const levels[CASE_OUTCOME_COUNT] = {
        [CASE_PASSED] = "none",  [CASE_SUPPRESSED] = "error", [CASE_REMARK] = "note",
        [CASE_UNSURE] = "error", [CASE_INCOMPLETE] = "error", [CASE_FAILED] = "error",
    };
    size_t rule = gate_rule_index(row->rule);

    outlet_format(out, "        {\n          \"ruleId\": %s, \"ruleIndex\": %zu, \"level\": %s,\n",
                  gate_rules[rule].id, rule, levels[row->outcome]);
    outlet_add(out, "          \"message\": {\"text\": ");
    outlet_words(out, row->sentence);
    outlet_add(out, "},\n");
    add_location(verdict, out, row);
    add_flow(out, row);
    if (row->outcome == CASE_SUPPRESSED)
        outlet_add(out, "          \"suppressions\": [{\"kind\": \"external\"}],\n");
    outlet_format(out,
                  "          \"partialFingerprints\": {\"leaktideKey/v1\": \"%016" PRIx64
                  "\"}\n        }",
                  hash_bytes(row->key, strlen(row->key)));
}

static void add_rules(struct outlet *out)
{
    for (size_t i = 0; i < gate_rule_count; i++) {
        outlet_format(out, "            {\"id\": %s, \"name\": %s,\n", gate_rules[i].id,
                      gate_rules[i].rule);
        outlet_format(out,
                      "             \"shortDescription\": {\"text\": %s}, \"fullDescription\": "
                      "{\"text\": %s},\n",
                      gate_rules[i].meaning, gate_rules[i].meaning);
        outlet_format(out, "             \"help\": {\"text\": %s, \"markdown\": %s},\n",
                      gate_rule_help(i), gate_rule_help(i));
        outlet_add(out, "             \"defaultConfiguration\": {\"level\": \"error\"}, "
                        "\"properties\": {\"tags\": [\"memory\"]}}");
        outlet_add_either(out, i + 1 < gate_rule_count, ",\n", "\n");
    }
}

void gate_write_sarif(const struct gate_verdict *verdict, struct outlet *out)
{
    bool is_first = true;

    outlet_add(out, "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
                    "  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n"
                    "      \"tool\": {\n        \"driver\": {\n          \"name\": \"leaktide\", "
                    "\"semanticVersion\": \"" LEAKTIDE_VERSION "\",\n"
                    "          \"rules\": [\n");
    add_rules(out);
    outlet_add(out, "          ]\n        }\n      },\n      \"results\": [\n");
    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (row->outcome == CASE_PASSED)
            continue;
        outlet_add_either(out, is_first, "", ",\n");
        add_result(verdict, out, row);
        is_first = false;
    }
    outlet_add_either(out, is_first, "      ]\n    }\n  ]\n}\n", "\n      ]\n    }\n  ]\n}\n");
}
