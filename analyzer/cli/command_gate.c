/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide gate: whether recordings keep to a memory budget.
 *
 * What is for people goes to the terminal, what is for programs into a folder; under GitHub Actions
 * its annotations and its summary come by themselves.
 */

#include "gate_recordings.h"
#include "gate_results.h"

static const struct option_spec options[] = {
    GATE_OPTIONS,
    {OPTION_FORMAT, 'f', "format", "LIST",
     "text, md, junit, sarif, json, openmetrics, github, gitlab (text)"},
    {OPTION_OUTPUT, 'o', "output", "FOLDER", "where files of formats for programs go"},
    {OPTION_WHY, 'e', "why", "KEY", "all that is known about one key, instead"},
    COLOR_OPTION,
    {OPTION_STRICT, 0, "strict", NULL, "remarks are no pass: exit status 5"},
    NAME_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};

static int explain(const struct judged_recordings *judged, const char *key)
{
    struct mt_error error;
    enum mt_result result = mt_gate_explain(judged->verdict, key, stdout, &error);

    if (result == MT_OK)
        return EXIT_FINE;
    return complain(EXIT_USAGE, "%s", error.message);
}

/* Remarks are told in any case. */
static int exit_code_of(const struct mt_gate_verdict *verdict, const struct options *given)
{
    int code = exit_code_of_gate(mt_gate_outcome(verdict));
    bool has_remarks = given->values[OPTION_STRICT] && mt_gate_remark_count(verdict);

    return code == EXIT_FINE && has_remarks ? EXIT_REMARKS : code;
}

static int run(const struct command *command, const struct options *given)
{
    struct gate_results results;
    struct judged_recordings judged;
    int code;

    (void)command;
    if (!given->operand_count)
        return complain(EXIT_USAGE, "gate needs a recording to read; see leaktide gate --help");
    code = gate_results_read(given->values[OPTION_FORMAT], given->values[OPTION_OUTPUT], &results);
    if (code != EXIT_FINE)
        return code;
    code = judge_recordings(given, (const char *const *)given->operands, given->operand_count,
                            false, &judged);
    if (code == EXIT_FINE && given->values[OPTION_WHY]) {
        code = explain(&judged, given->values[OPTION_WHY]);
    } else if (code == EXIT_FINE) {
        code = gate_results_write(&results, judged.verdict);
        if (code == EXIT_FINE)
            code = exit_code_of(judged.verdict, given);
    }
    judged_recordings_close(&judged);
    return code;
}

const struct command command_gate = {
    .name = "gate",
    .examples = "  leaktide gate run.leaktide\n"
                "  leaktide gate -f md,junit,sarif -o results run.leaktide\n",
    .operands = "INPUT...",
    .meaning = "whether a recording keeps to a memory budget",
    .options = options,
    .run = run,
    .remark =
        "Exit status 1 when a limit is exceeded, 3 when the recording is incomplete, 4 when\n"
        "something cannot be judged for lack of data or of a baseline, 5 with --strict when there\n"
        "are only remarks: a suppression that nothing needs, a budget of something not there.",
};
