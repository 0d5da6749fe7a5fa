/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide suppress: lines for a file of suppressions, one for each leak that the gate finds.
 */
#include "gate_recordings.h"

static const struct option_spec options[] = {
    GATE_OPTIONS,
    NAME_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    struct judged_recordings judged;
    struct mt_error error;
    int code;

    (void)command;
    if (!given->operand_count)
        return complain(EXIT_USAGE,
                        "suppress needs a recording to read; see leaktide suppress --help");
    code = judge_recordings(given, (const char *const *)given->operands, given->operand_count, true,
                            &judged);
    if (code == EXIT_FINE && mt_gate_write_suppressions(judged.verdict, stdout, &error) != MT_OK)
        code = complain(EXIT_USAGE, "%s", error.message);
    judged_recordings_close(&judged);
    return code;
}

const struct command command_suppress = {
    .name = "suppress",
    .operands = "INPUT...",
    .meaning = "write suppressions for the leaks that the gate finds",
    .options = options,
    .run = run,
    .remark = "Give each line a reason, an issue and a last day: reason=\"...\" issue=URL "
              "until=2027-01-31.",
};
