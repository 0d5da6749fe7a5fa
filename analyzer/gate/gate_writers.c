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
    static const struct {
        const char *words;
        enum case_outcome outcome;
    } parts[] = {
        {"failed", CASE_FAILED},
        {"on an incomplete recording", CASE_INCOMPLETE},
        {"cannot be judged", CASE_UNSURE},
        {"suppressed", CASE_SUPPRESSED},
    };
    size_t all = gate_case_count(verdict) - verdict->counts[CASE_REMARK];
    bool is_first = true;

    text_add_sentence(text, "Memory gate %s", translated(words[gate_worst(verdict)]));
    if (gate_worst(verdict) == CASE_PASSED) {
        text_add_sentence(text, ": %zu of %zu checks passed", verdict->counts[CASE_PASSED], all);
        is_first = false;
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!verdict->counts[parts[i].outcome])
            continue;
        if (is_first)
            text_add_sentence(text, ": %zu of %zu checks %s", verdict->counts[parts[i].outcome],
                              all, translated(parts[i].words));
        else
            text_add_sentence(text, ", %zu %s", verdict->counts[parts[i].outcome],
                              translated(parts[i].words));
        is_first = false;
    }
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

const char *gate_amount(struct arena *arena, const struct gate_case *row, uint64_t amount)
{
    static const struct {
        const char *unit, *after;
    } rates[] = {{"bytes_per_step", " per step"}, {"bytes_per_turn", " per turn"}};

    if (strcmp(row->unit, "steps") == 0)
        return label_count(arena, amount);
    if (strcmp(row->unit, "hundredths_of_a_percent") == 0)
        return label_share(arena, amount);
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
        if (strcmp(row->unit, rates[i].unit) == 0)
            return arena_format(arena, "%s%s", label_size(arena, amount), rates[i].after);
    return label_size(arena, amount);
}

static bool has_failed(const struct gate_verdict *verdict, bool with_base)
{
    for (size_t i = 0; i < gate_case_count(verdict); i++) {
        const struct gate_case *row = gate_case_at(verdict, i);

        if (row->outcome == CASE_FAILED &&
            (with_base ? row->has_base : strcmp(row->rule, "leak") == 0))
            return true;
    }
    return false;
}

/* As people type it; quotes only where a shell needs them. */
static const char *shell_word(struct arena *arena, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    bool is_plain = *word && strspn(word, plain) == strlen(word);

    return is_plain || strchr(word, '\'') ? word : arena_format(arena, "'%s'", word);
}

static const char *command_of(const struct gate_verdict *verdict, struct arena *arena,
                              const char *command)
{
    return arena_format(
        arena, "leaktide %s --policy %s %s", command,
        shell_word(arena, project_path(verdict->policy_path)),
        shell_word(arena, *verdict->recording_path ? verdict->recording_path : "RECORDING"));
}

const char *gate_accept_growth(const struct gate_verdict *verdict, struct arena *arena)
{
    return has_failed(verdict, true) ? command_of(verdict, arena, "bless") : NULL;
}

const char *gate_accept_leaks(const struct gate_verdict *verdict, struct arena *arena)
{
    return has_failed(verdict, false) ? command_of(verdict, arena, "suppress") : NULL;
}

struct gate_place gate_place_of(const struct gate_verdict *verdict, const struct gate_case *row)
{
    if (place_has_line(&row->where))
        return (struct gate_place){project_path(row->where.file), row->where.line};
    return (struct gate_place){project_path(verdict->policy_path),
                               row->policy_line ? row->policy_line : 1};
}
