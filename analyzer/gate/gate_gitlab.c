/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict as a code quality report of GitLab, which shows what a merge request adds and mends.
 *
 * It knows findings by their fingerprint, made from the key, and files by their path in the
 * project. What is suppressed is no finding there.
 * Source: docs.gitlab.com, Code Quality, report format.
 */
#include <inttypes.h>
#include <string.h>

#include "gate_writers.h"
#include "hash.h"

static const char *const severities[CASE_OUTCOME_COUNT] = {
    [CASE_REMARK] = "info",
    [CASE_UNSURE] = "major",
    [CASE_INCOMPLETE] = "major",
    [CASE_FAILED] = "critical",
};

/* Code outside of the project has no page there: then the policy, which is in it. */
static struct gate_place place_in_project(const struct gate_verdict *verdict,
                                          const struct gate_case *row)
{
    struct gate_case without_code = *row;
    struct gate_place place = gate_place_of(verdict, row);

    if (place.file[0] != '/')
        return place;
    without_code.where.file = "";
    return gate_place_of(verdict, &without_code);
}

static void add_finding(const struct gate_verdict *verdict, struct outlet *out,
                        const struct gate_case *row)
{
    const struct gate_place place = place_in_project(verdict, row);

    outlet_add(out, "  {\"description\": ");
    outlet_words(out, row->sentence);
    outlet_format(out,
                  ",\n   \"check_name\": %s, \"fingerprint\": \"%016" PRIx64
                  "\", \"severity\": %s,\n   \"location\": {\"path\": ",
                  gate_rules[gate_rule_index(row->rule)].id, hash_bytes(row->key, strlen(row->key)),
                  severities[row->outcome]);
    outlet_words(out, place.file);
    outlet_format(out, ", \"lines\": {\"begin\": %" PRIu32 "}}}", place.line);
}

void gate_write_gitlab(const struct gate_verdict *verdict, struct outlet *out)
{
    bool is_first = true;

    outlet_add(out, "[");
    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (!severities[row->outcome])
            continue;
        outlet_add_either(out, is_first, "\n", ",\n");
        add_finding(verdict, out, row);
        is_first = false;
    }
    outlet_add_either(out, is_first, "]\n", "\n]\n");
}
