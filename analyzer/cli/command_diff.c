/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide diff: what changed between recordings, or between steps of one.
 *
 * Sides are bases first and the current one last; each recording is opened once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "compare_csv.h"
#include "leaktide/analyzer.h"

enum { sides_most = 64 };

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    {OPTION_BASE, 0, "base", "BASE", "another base: what the bases differ in is noise"},
    {OPTION_STEPS, 0, "steps", "N,M...", "compare steps of INPUT: the last with the others"},
    {OPTION_LEVEL, 0, "level", "op|kernel", "of memscope-csv: operators, or kernels (op)"},
    {OPTION_STRICT, 0, "strict", NULL, "of memscope-csv: the numbers of that tool, from its csv"},
    {OPTION_FAIL_ON, 0, "fail-on", "growth", "exit 1 when a peak or what is kept has grown"},
    {0, 0, NULL, NULL, NULL},
};

struct comparison {
    const struct options *options;
    struct mt_diff_side sides[sides_most];
    size_t side_count;
    char step_names[sides_most][32];
    struct mt_trace *traces[sides_most];
    size_t trace_count;
};

static enum mt_result add_side(struct comparison *comparison, struct mt_diff_side side,
                               struct mt_error *error)
{
    if (comparison->side_count == sides_most)
        return mt_error_set(error, MT_USAGE, "more than %d recordings or steps to compare",
                            sides_most);
    comparison->sides[comparison->side_count++] = side;
    return MT_OK;
}

static enum mt_result open_trace(struct comparison *comparison, const char *path,
                                 struct mt_error *error)
{
    enum mt_result result = open_as_profilers(comparison->options, &path, 1,
                                              &comparison->traces[comparison->trace_count], error);

    if (result == MT_OK)
        comparison->trace_count++;
    return result;
}

static enum mt_result add_recording(struct comparison *comparison, const char *path,
                                    struct mt_error *error)
{
    enum mt_result result = open_trace(comparison, path, error);

    if (result != MT_OK)
        return result;
    return add_side(comparison,
                    (struct mt_diff_side){.trace = comparison->traces[comparison->trace_count - 1],
                                          .name = path},
                    error);
}

/* BASE INPUT, or --base BASE --base BASE INPUT */
static enum mt_result open_recordings(struct comparison *comparison, const struct options *given,
                                      struct mt_error *error)
{
    enum mt_result result = MT_OK;

    if (given->repeated_count + given->operand_count < 2 ||
        (given->repeated_count ? given->operand_count != 1 : given->operand_count != 2))
        return mt_error_set(error, MT_USAGE,
                            "diff needs a base and a recording, BASE INPUT or --base=BASE INPUT, "
                            "or --steps=N,M and one recording");
    for (size_t i = 0; result == MT_OK && i < given->repeated_count; i++)
        result = add_recording(comparison, given->repeated[i], error);
    for (size_t i = 0; result == MT_OK && i < given->operand_count; i++)
        result = add_recording(comparison, given->operands[i], error);
    return result;
}

static enum mt_result bad_steps(const char *list, struct mt_error *error)
{
    return mt_error_set(error, MT_USAGE,
                        "--steps=%s: numbers of two steps or more are needed, as in 3,7 or 3-5,7",
                        list);
}

static enum mt_result add_steps(struct comparison *comparison, unsigned long long first,
                                unsigned long long last, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    for (unsigned long long number = first; result == MT_OK && number <= last; number++) {
        char *name = comparison->step_names[comparison->side_count % sides_most];

        snprintf(name, sizeof(comparison->step_names[0]), "step %llu", number);
        result = add_side(comparison,
                          (struct mt_diff_side){.trace = comparison->traces[0],
                                                .name = name,
                                                .is_step = true,
                                                .step_number = number},
                          error);
    }
    return result;
}

static bool read_number(const char **at, unsigned long long *number)
{
    char *end;

    *number = strtoull(*at, &end, 10);
    if (**at < '0' || **at > '9')
        return false;
    *at = end;
    return true;
}

/* "3,7", "3-5,7" */
static enum mt_result read_steps(struct comparison *comparison, const char *list,
                                 struct mt_error *error)
{
    const char *at = list;

    for (;;) {
        unsigned long long first, last;
        enum mt_result result;

        if (!read_number(&at, &first))
            return bad_steps(list, error);
        last = first;
        if (*at == '-' && (at++, !read_number(&at, &last) || last < first))
            return bad_steps(list, error);
        result = add_steps(comparison, first, last, error);
        if (result != MT_OK)
            return result;
        if (!*at)
            return comparison->side_count < 2 ? bad_steps(list, error) : MT_OK;
        if (*at++ != ',')
            return bad_steps(list, error);
    }
}

static enum mt_result open_sides(struct comparison *comparison, const struct options *given,
                                 struct mt_error *error)
{
    const char *steps = given->values[OPTION_STEPS];
    enum mt_result result;

    if (!steps)
        return open_recordings(comparison, given, error);
    if (given->repeated_count || given->operand_count != 1)
        return mt_error_set(error, MT_USAGE, "diff --steps needs exactly one recording");
    result = open_trace(comparison, given->operands[0], error);
    return result == MT_OK ? read_steps(comparison, steps, error) : result;
}

static int judge(const struct comparison *comparison, const struct options *given,
                 enum mt_outcome outcome)
{
    if (given->values[OPTION_FAIL_ON] && outcome == MT_OUTCOME_FOUND)
        return EXIT_FOUND;
    for (size_t i = 0; i < comparison->trace_count; i++)
        if (!mt_trace_is_complete(comparison->traces[i]))
            return EXIT_INPUT;
    return EXIT_FINE;
}

static int compare(struct comparison *comparison, const struct options *given)
{
    struct mt_ask_options ask;
    struct mt_answer *answer;
    struct mt_error error;
    const char *format;
    enum mt_result result = answer_options_read(given, &format, &ask, &error);
    enum mt_outcome outcome;
    int code;

    if (result == MT_OK)
        result = open_sides(comparison, given, &error);
    if (result == MT_OK)
        result = mt_trace_diff(comparison->sides, comparison->side_count, &ask, &answer, &error);
    if (result != MT_OK)
        return complain_about(result, &error);
    outcome = mt_answer_outcome(answer);
    code = answer_write(answer, format, given);
    mt_answer_close(answer);
    return code == EXIT_FINE ? judge(comparison, given, outcome) : code;
}

static const char memscope_format[] = "memscope-csv";

static enum mt_result write_csv(struct comparison *comparison, const struct options *given,
                                enum compare_level level, FILE *out, struct mt_error *error)
{
    enum mt_result result;

    if (given->values[OPTION_STRICT])
        return compare_csv_write_strict(given->operands[0], given->operands[1], level, out, error);
    result = open_recordings(comparison, given, error);
    if (result == MT_OK)
        result = compare_csv_write(comparison->traces[0], comparison->traces[1], level, out, error);
    return result;
}

static int compare_csv(struct comparison *comparison, const struct options *given)
{
    const char *level = given->values[OPTION_LEVEL] ? given->values[OPTION_LEVEL] : "op";
    bool is_kernel = strcmp(level, "kernel") == 0;
    struct mt_error error;
    enum mt_result result;
    FILE *out;

    if (!is_kernel && strcmp(level, "op") != 0)
        return complain(EXIT_USAGE, "--level=%s: op or kernel is needed", level);
    if (given->operand_count != 2 || given->repeated_count || given->values[OPTION_STEPS])
        return complain(EXIT_USAGE, "diff --format=%s needs two recordings, BASE INPUT",
                        memscope_format);
    out = answer_open(given);
    if (!out)
        return complain(EXIT_USAGE, "%s: %s", given->values[OPTION_OUTPUT], strerror(errno));
    result =
        write_csv(comparison, given, is_kernel ? COMPARE_KERNELS : COMPARE_OPERATORS, out, &error);
    return answer_finish(out, given, result, &error);
}

static bool wants_csv(const struct options *given)
{
    return given->values[OPTION_FORMAT] &&
           strcmp(given->values[OPTION_FORMAT], memscope_format) == 0;
}

static int run(const struct command *command, const struct options *given)
{
    const char *fail_on = given->values[OPTION_FAIL_ON];
    struct comparison *comparison;
    int code;

    if (fail_on && strcmp(fail_on, "growth") != 0)
        return complain(EXIT_USAGE, "--fail-on=%s: only growth is known; see leaktide %s --help",
                        fail_on, command->name);
    comparison = calloc(1, sizeof(*comparison));
    if (!comparison)
        return complain(EXIT_INPUT, "no memory to compare");
    comparison->options = given;
    code = wants_csv(given) ? compare_csv(comparison, given) : compare(comparison, given);
    for (size_t i = 0; i < comparison->trace_count; i++)
        mt_trace_close(comparison->traces[i]);
    free(comparison);
    return code;
}

const struct command command_diff = {
    .name = "diff",
    .examples = "  leaktide diff yesterday.leaktide today.leaktide\n"
                "  leaktide diff --steps=3,7 run.leaktide\n",
    .operands = "BASE INPUT",
    .meaning = "what changed between recordings, or between steps",
    .options = options,
    .run = run,
    .remark =
        "Several bases: leaktide diff --base=A --base=B INPUT. Steps: leaktide diff --steps=3,7 "
        "INPUT.",
};
