/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide stacks: through which calls memory was asked for.
 */
#include "commands.h"

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    STEP_OPTIONS,
    {OPTION_DEPTH, 0, "depth", "N", "so many calls of each stack; 0 for all"},
    {OPTION_MIN_PERCENT, 0, "min-percent", "N", "leave out branches with less (1)"},
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    return answer(command->name, given, false);
}

const struct command command_stacks = {
    .name = "stacks",
    .operands = "INPUT...",
    .meaning = "through which calls memory was asked for",
    .options = options,
    .run = run,
};
