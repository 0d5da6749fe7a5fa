/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats, and what they have in common.
 */
#include "gate_writers.h"
#include "sentence.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

const struct gate_writer gate_writers[] = {
    {"text", "for a terminal", "gate.txt", FOR_TERMINAL, gate_write_text},
    {"md", "a summary for a page of the CI", "summary.md", FOR_MARKDOWN, gate_write_markdown},
    {"junit", "test results, one case a key", "junit.xml", FOR_XML, gate_write_junit},
    {"sarif", "SARIF 2.1.0, for code scanning", "results.sarif", FOR_JSON, gate_write_sarif},
    {"json", "for programs; docs/gates.md", "gate.json", FOR_JSON, gate_write_json},
    {"openmetrics", "numbers over time, for dashboards", "metrics.txt", FOR_METRICS,
     gate_write_openmetrics},
    {"github", "annotations of GitHub Actions", "annotations.txt", FOR_GITHUB, gate_write_github},
    {"gitlab", "code quality of GitLab", "gl-code-quality-report.json", FOR_JSON,
     gate_write_gitlab},
    {NULL, NULL, NULL, FOR_TERMINAL, NULL},
};

enum case_outcome gate_worst(const struct gate_verdict *verdict)
{
    static const enum case_outcome order[] = {CASE_FAILED, CASE_INCOMPLETE, CASE_UNSURE};

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (verdict->counts[order[i]])
            return order[i];
    return CASE_PASSED;
}

static void add_headline(const struct gate_verdict *verdict, struct text_builder *text)
{
    static const char *const words[CASE_OUTCOME_COUNT] = {
        [CASE_PASSED] = "passed",
        [CASE_UNSURE] = "CANNOT JUDGE",
        [CASE_INCOMPLETE] = "INCOMPLETE recording",
        [CASE_FAILED] = "FAILED",
    };
    size_t judged = verdict->counts[CASE_PASSED] + verdict->counts[CASE_FAILED] +
                    verdict->counts[CASE_SUPPRESSED];

    text_add_sentence(text, "Memory gate %s: %zu of %zu checks kept",
                      translated(words[gate_worst(verdict)]),
                      verdict->counts[CASE_PASSED] + verdict->counts[CASE_SUPPRESSED],
                      judged + verdict->counts[CASE_UNSURE] + verdict->counts[CASE_INCOMPLETE]);
    if (verdict->counts[CASE_FAILED])
        text_add_sentence(text, ", %zu failed", verdict->counts[CASE_FAILED]);
    if (verdict->counts[CASE_INCOMPLETE])
        text_add_sentence(text, ", %zu on an incomplete recording",
                          verdict->counts[CASE_INCOMPLETE]);
    if (verdict->counts[CASE_UNSURE])
        text_add_sentence(text, ", %zu cannot be judged", verdict->counts[CASE_UNSURE]);
    if (verdict->counts[CASE_SUPPRESSED])
        text_add_sentence(text, ", %zu suppressed", verdict->counts[CASE_SUPPRESSED]);
    text_add(text, ".");
}

void gate_put_headline(const struct gate_verdict *verdict, struct outlet *out)
{
    struct text_builder headline;

    text_init(&headline);
    add_headline(verdict, &headline);
    outlet_headline(out, text_get(&headline));
    text_release(&headline);
}

const char *project_path(const char *path)
{
    char folder[PATH_MAX];
    size_t length;

    if (!getcwd(folder, sizeof(folder)))
        return path;
    length = strlen(folder);
    if (length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/')
        return path + length + 1;
    return strncmp(path, "./", 2) == 0 ? path + 2 : path;
}

struct gate_place gate_place_of(const struct gate_verdict *verdict, const struct gate_case *row)
{
    if (place_has_line(&row->where))
        return (struct gate_place){project_path(row->where.file), row->where.line};
    return (struct gate_place){project_path(verdict->policy_path),
                               row->policy_line ? row->policy_line : 1};
}
