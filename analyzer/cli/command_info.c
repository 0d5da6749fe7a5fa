/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide info: what is in a recording, and how complete it is.
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

const struct command command_info = {
    .name = "info",
    .operands = "INPUT...",
    .meaning = "what is in a recording, and how complete it is",
    .options = options,
    .run = run,
};
