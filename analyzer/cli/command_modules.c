/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide modules: memory by module of the driver, and the driver's own counters.
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

const struct command command_modules = {
    .name = "modules",
    .operands = "INPUT...",
    .meaning = "memory by module of the driver, and the driver's own counters",
    .options = options,
    .run = run,
};
