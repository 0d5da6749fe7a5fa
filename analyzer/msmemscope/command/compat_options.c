/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of msleaks and msmemscope, of all versions.
 *
 * Deprecated words stand for one of today; only the name msmemscope is told so, because they were
 * right under the other name.
 */
#include "compat_options.h"

#include <string.h>

#include "compat_values.h"
#include "sentence.h"

enum { help_column = 36 };

// clang-format off
const struct compat_option compat_options[] = {
    {.name = "help", .letters = {'h', 'h'}, .meaning = "this text", .set = compat_set_help},
    {.name = "version", .letters = {'v', 'V'}, .meaning = "which version this is",
     .set = compat_set_version},
    {.name = "verbose", .letters = {0, 'v'}, .meaning = "the same as --log-level=debug",
     .set = compat_set_debug},
    {.name = "quiet", .letters = {0, 'q'}, .meaning = "the same as --log-level=error",
     .set = compat_set_quiet},
    {.name = "debug", .meaning = "the same as --log-level=debug", .set = compat_set_debug},
    {.name = "level", .argument = "op|kernel,...", .subject = "level", .is_list = true,
     .words = "op kernel", .meaning = "what a launch is: an operator, a kernel, or both (op)",
     .set = compat_set_level},
    {.name = "events", .argument = "EVENT,...", .subject = "events", .is_list = true,
     .words = "alloc free launch access traceback none",
     .meaning = "alloc, free, launch, access, traceback, none (alloc,free,launch)",
     .set = compat_set_events},
    {.name = "steps", .argument = "N,...", .subject = "steps", .is_list = true,
     .meaning = "write only what happened in these steps, counted from 1", .set = compat_set_steps},
    {.name = "call-stack", .argument = "c[:N],python[:N]", .subject = "call stack",
     .words = "c python", .is_list = true,
     .meaning = "call stacks, of at most N frames, 0 to 1000 (50)", .set = compat_set_call_stack},
    {.name = "collect-mode", .argument = "immediate|deferred", .subject = "collect mode",
     .words = "immediate deferred",
     .meaning = "deferred: record from a start on, of Python or of leaktide ctl (immediate)",
     .set = compat_set_collect_mode},
    {.name = "device", .argument = "npu|npu:N|cpu,...", .subject = "device", .is_list = true,
     .words = "npu cpu", .meaning = "whose memory; N is 0 to 31 (npu)", .set = compat_set_device},
    {.name = "analysis", .argument = "ANALYSIS,...", .subject = "analysis", .is_list = true,
     .words = "leaks decompose inefficient oom host-leaks none",
     .meaning = "leaks, decompose, inefficient, oom[:K], host-leaks, none (leaks); K is 1 to 1000 "
                "(10)",
     .set = compat_set_analysis},
    {.name = "compare", .meaning = "compare the two files of --input-path",
     .set = compat_set_compare},
    {.name = "watch", .argument = "[OP[:N]],OP[,full-content]", .subject = "watch", .is_list = true,
     .meaning = "hash, or keep, tensors from one operator to another", .set = compat_set_watch},
    {.name = "input-path", .letters = {'i', 'i'}, .argument = "PATH[,PATH]", .subject = "input-path",
     .words = "FILE", .is_list = true,
     .meaning = "two files to compare, one to look at, or a recording to write the files of",
     .set = compat_set_input},
    {.name = "output-path", .letters = {'o', 'o'}, .argument = "FOLDER", .subject = "output-path",
     .words = "FOLDER", .meaning = "where to write (memscopeDumpResults, leaksDumpResults)",
     .set = compat_set_output},
    {.name = "format", .argument = "csv|db", .subject = "data-format", .words = "csv db",
     .meaning = "what to write (csv)", .set = compat_set_format},
    {.name = "log-level", .argument = "LEVEL", .subject = "log-level",
     .words = "debug info warning error", .meaning = "debug, info, warning, error (info)",
     .set = compat_set_log_level},
    {.name = "host-leak-mode", .argument = "summary|event", .subject = "host-leak-mode",
     .words = "summary event",
     .meaning = "event: every block that is left, not only the places (summary)",
     .set = compat_set_host_leak_mode},
    {.name = "block-size-threshold", .argument = "BYTES", .subject = "block-size-threshold",
     .meaning = "host-leaks: leave out smaller blocks (0)", .set = compat_set_block_size_threshold},
    {.name = "sample-rate", .argument = "N", .subject = "sample-rate",
     .meaning = "accepted; every block is recorded", .set = compat_set_sample_rate},
    {.name = "pid", .argument = "PID", .subject = "pid",
     .meaning = "speak to a program that is being recorded", .set = compat_set_pid},
    {.name = "command", .argument = "WORDS", .subject = "command",
     .words = "start stop step snapshot status help exit",
     .meaning = "with --pid: start, stop, step, snapshot, status, set ..., display ..., help",
     .set = compat_set_command},
    {.name = "mstx-info", .argument = "TEXT", .subject = "mstx-info",
     .meaning = "with one input and leaks: the mark between which to look",
     .set = compat_set_mstx_info},
    {.name = "start-index", .argument = "N", .subject = "start-index",
     .meaning = "with --mstx-info: the first such mark, counted from 0 (0)",
     .set = compat_set_start_index},
    {.name = "mem-size", .argument = "BYTES", .subject = "mem-size",
     .meaning = "with one input and inefficient: leave out smaller blocks (0)",
     .set = compat_set_mem_size},
    {.name = "inefficient-type", .argument = "TYPE,...", .subject = "inefficient-type",
     .words = "early_allocation late_deallocation temporary_idleness", .is_list = true,
     .meaning = "with one input and inefficient: which to look for (all)",
     .set = compat_set_inefficient_type},
    {.name = "idle-threshold", .argument = "N", .subject = "idle-threshold",
     .meaning = "operators between two accesses that make a block idle (3000)",
     .set = compat_set_idle_threshold},
    {.name = "layout", .argument = "flat|process", .subject = "layout", .words = "flat process",
     .meaning = "one folder dump/, or one folder for each process and device",
     .set = compat_set_layout},
    {.name = "strict-compat", .meaning = "write files with the known errors of the original tool",
     .set = compat_set_strict},
    {.name = "input", .argument = "FILE,FILE", .stands_for = "input-path"},
    {.name = "output", .argument = "FOLDER", .stands_for = "output-path"},
    {.name = "data-format", .argument = "csv|db", .stands_for = "format"},
    {.name = "parse-kernel-name", .letters = {'p', 0}, .set = compat_set_kernel_names},
    {.name = NULL},
};
// clang-format on

const struct compat_option *compat_option_of_letter(enum compat_name name, char letter)
{
    for (const struct compat_option *option = compat_options; option->name; option++)
        if (option->letters[name] == letter)
            return option;
    return NULL;
}

static const struct compat_option *stand_in(const struct compat_option *option)
{
    return option->stands_for
               ? compat_option_of_name(option->stands_for, strlen(option->stands_for), false)
               : option;
}

const struct compat_option *compat_option_of_name(const char *word, size_t length,
                                                  bool allows_short)
{
    const struct compat_option *found = NULL;

    for (const struct compat_option *option = compat_options; option->name; option++) {
        if (strncmp(option->name, word, length) != 0)
            continue;
        if (!option->name[length])
            return option;
        /* "--in" begins both --input and --input-path, which mean the same. */
        if (found && stand_in(found) != stand_in(option))
            allows_short = false;
        if (!found || found->stands_for)
            found = option;
    }
    return allows_short && length ? found : NULL;
}

static void print_option(const struct compat_option *option, enum compat_name name, FILE *out)
{
    int width = option->letters[name] ? fprintf(out, "  -%c, ", option->letters[name])
                                      : fprintf(out, "      ");

    width += fprintf(out, "--%s", option->name);
    if (option->argument)
        width += fprintf(out, "=%s", option->argument);
    fprintf(out, "%*s%s\n", width < help_column ? help_column - width : 2, "",
            translated(option->meaning));
}

void compat_print_help(const struct compat_generation *generation, FILE *out)
{
    const char *program = generation->program;

    fprintf(
        out,
        "Usage: %s [options] PROGRAM [ARG...] [options]\n"
        "       %s --compare --input-path=FILE,FILE [--level=op|kernel]\n"
        "       %s --analysis=leaks|inefficient --input-path=FILE\n"
        "       %s [options] --input-path=RECORDING\n\n"
        "The words and files of %s, by leaktide. Records what the program does with memory and\n"
        "writes it as files; says what leaks. Words after -- are the program's.\n\n",
        program, program, program, program, program);
    for (const struct compat_option *option = compat_options; option->name; option++)
        if (option->meaning)
            print_option(option, generation->name, out);
    fprintf(out,
            "\nExit status: the program's own; without a program 0 fine, 1 findings, 2 wrong use, "
            "3 input\nunreadable or incomplete, 4 not enough data.\n");
}
