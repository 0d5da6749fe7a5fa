/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide oom: the request that failed, and why.
 */
#include "commands.h"

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    {OPTION_WARM_UP, 0, "warm-up", "N", "growth counts since the end of this step (2)"},
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    return answer(command->name, given, false);
}

const struct command command_oom = {
    .name = "oom",
    .operands = "INPUT...",
    .meaning = "the request that failed, and who held the memory",
    .options = options,
    .run = run,
};
