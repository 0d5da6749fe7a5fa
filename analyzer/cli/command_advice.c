/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide advice: what to do, and what it would save.
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

const struct command command_advice = {
    .name = "advice",
    .operands = "INPUT...",
    .meaning = "what to do, and what it would save",
    .options = options,
    .run = run,
};
