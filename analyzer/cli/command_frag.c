/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide frag: what pools hold and nobody uses.
 */
#include "commands.h"

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    {OPTION_TRY, 0, "try", "SETTINGS", "what these settings of the allocator would reserve"},
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    return answer(command->name, given, false);
}

const struct command command_frag = {
    .name = "frag",
    .operands = "INPUT...",
    .meaning = "what pools hold and nobody uses, and who keeps it",
    .options = options,
    .run = run,
};
