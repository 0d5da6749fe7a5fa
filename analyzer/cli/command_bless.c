/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide bless: agrees to what recordings use now, by writing it into the baseline.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "gate_recordings.h"

static const struct option_spec options[] = {
    GATE_OPTIONS,
    NAME_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};

/* A baseline that is there stays whole until the new one is. */
static int write_baseline(const struct mt_gate_verdict *verdict, const char *path)
{
    char new_path[PATH_MAX];
    struct mt_error error;
    enum mt_result result;
    FILE *out;

    if (snprintf(new_path, sizeof(new_path), "%s.new", path) >= (int)sizeof(new_path))
        return complain(EXIT_USAGE, "%s: the path is too long", path);
    out = fopen(new_path, "w");
    if (!out)
        return complain(EXIT_USAGE, "%s: %s", new_path, strerror(errno));
    result = mt_gate_write_baseline(verdict, out, &error);
    if (fclose(out) != 0 && result == MT_OK)
        result = mt_error_set(&error, MT_IO, "%s: %s", new_path, strerror(errno));
    if (result == MT_OK && rename(new_path, path) != 0)
        result = mt_error_set(&error, MT_IO, "%s: %s", path, strerror(errno));
    if (result == MT_OK)
        return EXIT_FINE;
    unlink(new_path);
    return complain(result == MT_NO_DATA ? EXIT_NO_DATA : EXIT_USAGE, "%s", error.message);
}

static int bless(const struct judged_recordings *judged)
{
    const char *path = mt_gate_baseline_path(judged->verdict);
    int code;

    if (!path)
        return complain(EXIT_USAGE, "bless needs to know what to write: --baseline=FILE, or "
                                    "[baseline] file = \"...\" in the policy");
    if (!mt_gate_is_complete(judged->verdict))
        return complain(EXIT_INPUT, "a recording is not complete, so its numbers are too small "
                                    "to agree to; leaktide info says what is missing");
    code = write_baseline(judged->verdict, path);
    if (code == EXIT_FINE)
        tell("wrote %s", path);
    return code;
}

static int run(const struct command *command, const struct options *given)
{
    struct judged_recordings judged;
    int code;

    (void)command;
    if (!given->operand_count)
        return complain(EXIT_USAGE, "bless needs a recording to read; see leaktide bless --help");
    code = judge_recordings(given, (const char *const *)given->operands, given->operand_count, true,
                            &judged);
    if (code == EXIT_FINE)
        code = bless(&judged);
    judged_recordings_close(&judged);
    return code;
}

const struct command command_bless = {
    .name = "bless",
    .examples = "  leaktide bless run.leaktide && git diff leaktide.base\n",
    .operands = "INPUT...",
    .meaning = "agree to what a recording uses: write the baseline",
    .options = options,
    .run = run,
};
