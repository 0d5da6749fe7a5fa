/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide inefficient: memory that is there and not used.
 */
#include "commands.h"

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    return answer(command->name, given, false);
}

const struct command command_inefficient = {
    .name = "inefficient",
    .operands = "INPUT...",
    .meaning = "memory that is there and not used",
    .options = options,
    .run = run,
};
