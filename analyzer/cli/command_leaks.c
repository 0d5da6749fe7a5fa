/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide leaks: what grows from step to step.
 */
#include "commands.h"

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    STEP_OPTIONS,
    {OPTION_WARM_UP, 0, "warm-up", "N", "steps at the beginning that are not judged (chosen)"},
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    return answer(command->name, given, true);
}

const struct command command_leaks = {
    .name = "leaks",
    .operands = "INPUT...",
    .meaning = "what grows from step to step",
    .options = options,
    .run = run,
    .remark = "Exit status 1 when something leaks, 4 when there are too few steps to judge.",
};
