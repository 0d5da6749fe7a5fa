/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide ranks: which rank differs from the others.
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

const struct command command_ranks = {
    .name = "ranks",
    .operands = "INPUT...",
    .meaning = "which rank differs from the others, and in what",
    .options = options,
    .run = run,
};
