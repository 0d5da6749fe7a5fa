/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide export: the recording as a file or folder of another program.
 */
#include <signal.h>
#include <string.h>

#include "commands.h"
#include "leaktide/analyzer.h"
#include "outlet.h"
#include "waiting.h"

static const struct option_spec options[] = {
    {OPTION_TO, 't', "to", "FORMAT", "for which program; --to=help lists them"},
    {OPTION_OUTPUT, 'o', "output", "OUT", "where to (standard output, for formats of text)"},
    OPEN_OPTIONS,
    {0, 0, NULL, NULL, NULL},
};

static const char *exporter_name_at(const void *context, size_t i)
{
    (void)context;
    return mt_exporter_at(i, NULL);
}

static int list_exporters(void)
{
    const char *name, *meaning;

    for (size_t i = 0; (name = mt_exporter_at(i, &meaning)); i++)
        outlet_print(stdout, "  %-16s %s\n", name, meaning);
    return EXIT_FINE;
}

static int check_exporter(const char *wanted)
{
    const char *name, *nearest;

    for (size_t i = 0; (name = mt_exporter_at(i, NULL)); i++)
        if (strcmp(name, wanted) == 0)
            return EXIT_FINE;
    nearest = nearest_name(wanted, exporter_name_at, NULL);
    if (nearest)
        return complain(EXIT_USAGE, "--to=%s: there is no such format; did you mean %s?", wanted,
                        nearest);
    return complain(EXIT_USAGE, "--to=%s: there is no such format; see leaktide export --to=help",
                    wanted);
}

static int write_export(struct mt_trace *trace, const char *to, const char *path)
{
    const char *file = path && strcmp(path, "-") != 0 ? path : NULL;
    struct mt_error error;
    enum mt_result result;

    if (!file)
        waiting_end();
    result = mt_trace_export(trace, to, file, &error);
    waiting_end();
    if (result != MT_OK)
        return complain_about(result, &error);
    if (!mt_trace_is_complete(trace))
        return complain(EXIT_INPUT, "events are missing from the recording, so from the export "
                                    "too; leaktide info says which");
    return EXIT_FINE;
}

static int run(const struct command *command, const struct options *given)
{
    const char *to = given->values[OPTION_TO];
    struct mt_trace *trace;
    struct mt_error error;
    enum mt_result result;
    int code;

    (void)command;
    if (!to)
        return complain(EXIT_USAGE, "export needs --to=FORMAT; see leaktide export --to=help");
    if (strcmp(to, "help") == 0)
        return list_exporters();
    code = check_exporter(to);
    if (code != EXIT_FINE)
        return code;
    signal(SIGXFSZ, SIG_IGN); /* a file that is too large is an error of writing */
    if (!given->operand_count)
        return complain(EXIT_USAGE, "export needs a recording to read; see leaktide export --help");
    result = (strcmp(to, "ascend") == 0 ? open_as_profilers : open_inputs)(
        given, (const char *const *)given->operands, given->operand_count, &trace, &error);
    if (result != MT_OK)
        return complain_about(result, &error);
    code = write_export(trace, to, given->values[OPTION_OUTPUT]);
    mt_trace_close(trace);
    return code;
}

const struct command command_export = {
    .name = "export",
    .examples = "  leaktide export --to=perfetto -o run.pftrace run.leaktide\n"
                "  leaktide export --to=help\n",
    .operands = "INPUT...",
    .meaning = "the recording as a file of another program",
    .options = options,
    .run = run,
    .remark =
        "Replaces an existing file only after the new one is complete. A folder must be new or\n"
        "empty.",
};
