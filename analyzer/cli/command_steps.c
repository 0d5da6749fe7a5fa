/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide steps: what is alive when each step ends, and what is new.
 */
#include "commands.h"

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    STEP_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    return answer(command->name, given, true);
}

const struct command command_steps = {
    .name = "steps",
    .operands = "INPUT...",
    .meaning = "what is alive when each step ends, and what is new",
    .options = options,
    .run = run,
};
