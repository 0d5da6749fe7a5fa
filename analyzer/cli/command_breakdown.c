/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide breakdown: who holds the memory and what for.
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

const struct command command_breakdown = {
    .name = "breakdown",
    .operands = "INPUT...",
    .meaning = "who holds the memory and what for, to the device's total",
    .options = options,
    .run = run,
};
