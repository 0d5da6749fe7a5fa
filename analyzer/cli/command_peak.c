/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide peak: what made the highest point, and who held the memory there.
 */
#include "commands.h"

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    STEP_OPTIONS,
    {OPTION_MARGIN, 0, "margin", "PERCENT", "near the peak: at most so much below it (5)"},
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    return answer(command->name, given, false);
}

const struct command command_peak = {
    .name = "peak",
    .operands = "INPUT...",
    .meaning = "what made the highest point, and who held the memory there",
    .options = options,
    .run = run,
};
