/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide ops: memory by operator.
 */
#include "commands.h"

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    STEP_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    return answer(command->name, given, false);
}

const struct command command_ops = {
    .name = "ops",
    .operands = "INPUT...",
    .meaning = "memory by operator",
    .options = options,
    .run = run,
};
