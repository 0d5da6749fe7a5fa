/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide report: everything, verdict first.
 */
#include <string.h>

#include "commands.h"

static const struct option_spec options[] = {
    ANSWER_OPTIONS,
    STEP_OPTIONS,
    {OPTION_MARGIN, 0, "margin", "PERCENT", "near the peak: at most so much below it (5)"},
    {OPTION_WARM_UP, 0, "warm-up", "N", "steps at the beginning that are not judged (chosen)"},
    {OPTION_FAIL_ON, 0, "fail-on", "leak", "exit with 1 when something leaks"},
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    const char *fail_on = given->values[OPTION_FAIL_ON];

    if (fail_on && strcmp(fail_on, "leak") != 0)
        return complain(EXIT_USAGE, "--fail-on=%s: only leak is known", fail_on);
    return answer(command->name, given, fail_on != NULL);
}

const struct command command_report = {
    .name = "report",
    .operands = "INPUT...",
    .meaning = "everything, verdict first",
    .options = options,
    .run = run,
};
