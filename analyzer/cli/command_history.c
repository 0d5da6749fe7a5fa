/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide history: summaries of many runs of a job, the newest held against those before it.
 */
#include <string.h>

#include "commands.h"
#include "leaktide/summaries.h"

enum { LAST_MOST = 1000 };

// clang-format off
static const struct option_spec options[] = {
    {OPTION_LAST, 0, "last", "N", "how many good runs are compared with (5)"},
    {OPTION_FAIL_ON, 0, "fail-on", "leak|finding", "exit with 1 when the newest run leaks; or grew, too"},
    WRITE_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};
// clang-format on

static int code_of(const struct mt_answer *answer, const char *fail_on)
{
    bool has_finding = mt_answer_finding_at(answer, 0) != NULL;

    if (fail_on && strcmp(fail_on, "leak") == 0 && mt_answer_outcome(answer) == MT_OUTCOME_FOUND)
        return EXIT_FOUND;
    if (fail_on && strcmp(fail_on, "finding") == 0 && has_finding)
        return EXIT_FOUND;
    if (mt_value_number(mt_answer_fact(answer, "unread_summary_count")))
        return EXIT_INPUT;
    return mt_answer_outcome(answer) == MT_OUTCOME_NO_DATA ? EXIT_NO_DATA : EXIT_FINE;
}

static int run(const struct command *command, const struct options *given)
{
    const char *format, *fail_on = given->values[OPTION_FAIL_ON];
    size_t last = 0;
    struct mt_ask_options how;
    struct mt_answer *answer;
    struct mt_error error;
    enum mt_result result;
    int code;

    (void)command;
    if (!given->operand_count)
        return complain(EXIT_USAGE, "history needs a folder of runs; see leaktide history --help");
    if (fail_on && strcmp(fail_on, "leak") != 0 && strcmp(fail_on, "finding") != 0)
        return complain(EXIT_USAGE, "--fail-on=%s: leak and finding are known", fail_on);
    result = option_number("last", given->values[OPTION_LAST], LAST_MOST, &last, &error);
    if (result == MT_OK)
        result = answer_options_read(given, &format, &how, &error);
    if (result == MT_OK)
        result = mt_summaries_history((const char *const *)given->operands, given->operand_count,
                                      last, &how, &answer, &error);
    if (result != MT_OK)
        return complain_about(result, &error);
    code = answer_write(answer, format, given);
    if (code == EXIT_FINE)
        code = code_of(answer, fail_on);
    mt_answer_close(answer);
    return code;
}

const struct command command_history = {
    .name = "history",
    .operands = "DIR...",
    .meaning = "runs of a job over time: does the newest use more, or leak?",
    .options = options,
    .run = run,
    .examples = "  leaktide history /shared/runs\n"
                "  leaktide history --fail-on=finding --last=10 /shared/runs\n",
    .remark = "Each folder in DIR is a run: a summary of leaktide summarize, or a folder of them.\n"
              "Exit status 4 when there is no good run to compare with.",
};
