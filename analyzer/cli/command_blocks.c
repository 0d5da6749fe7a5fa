/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide blocks: the blocks themselves, by name, size and time.
 */
#include "commands.h"

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    STEP_OPTIONS,
    {OPTION_NAME, 0, "name", "TEXT", "with this in the name of the site, operator or owner"},
    {OPTION_MIN_SIZE, 0, "min-size", "SIZE", "of at least this size: 4096, 64K, 1.5G"},
    {OPTION_MAX_SIZE, 0, "max-size", "SIZE", "of at most this size"},
    {OPTION_FROM, 0, "from", "TIME", "still alive then: 1.25s, 300ms; since the start, or 1970"},
    {OPTION_TO, 0, "to", "TIME", "made by then"},
    {OPTION_AT, 0, "at", "TIME", "alive at that moment"},
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    return answer(command->name, given, false);
}

const struct command command_blocks = {
    .name = "blocks",
    .operands = "INPUT...",
    .meaning = "the blocks themselves, by name, size and time",
    .options = options,
    .run = run,
};
