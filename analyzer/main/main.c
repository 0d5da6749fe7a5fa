/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide: the command. Finds the command in the table, reads its options, runs it.
 */
#include <stdio.h>
#include <string.h>

#include "command_table.h"
#include "compat_command.h"
#include "language.h"
#include "memory_failures.h"
#include "outlet.h"
#include "screen.h"
#include "sentence.h"

enum { word_most = 40 };

/* In the help after run and the questions. */
// clang-format off
static const struct command *const others[] = {
    &command_account,
    &command_diff,
    &command_export,
    &command_summarize,
    &command_history,
    &command_gate,
    &command_bless,
    &command_suppress,
    &command_ctl,
    &command_doctor,
    &command_completion,
};
// clang-format on

const struct command *command_at(size_t index)
{
    size_t after = index - question_count - 1;

    if (index == 0)
        return &command_run;
    if (index <= question_count)
        return &questions[index - 1];
    return after < sizeof(others) / sizeof(others[0]) ? others[after] : NULL;
}

static void print_usage(FILE *out)
{
    const struct command *command;

    fprintf(
        out,
        translated(
            "leaktide %s: what leaks, what makes the peak, what changed, who holds the rest\n\n"),
        LEAKTIDE_VERSION);
    for (size_t i = 0; (command = command_at(i)); i++)
        fprintf(out, "  leaktide %-11s %-25s %s\n", command->name, command_operands(command),
                command_meaning(command));
    fprintf(out, "  leaktide %-11s %-25s %s\n", "help", "[COMMAND]",
            translated("this text, or a command's own"));
    fprintf(out, "  leaktide %-11s %-25s %s\n", "version", "[-v]",
            translated("which leaktide this is; with -v, of what libraries"));
    fprintf(out, "  leaktide %-11s %-25s %s\n", "msleaks", "[options] PROGRAM [ARG...]",
            translated("as msleaks, with its options and files"));
    fprintf(out, "  leaktide %-10s %-26s %s\n", "msmemscope", "[options] PROGRAM [ARG...]",
            translated("as msmemscope; both also by their own names"));
    fputs(translated(
              "\nExit status: 0 fine, 1 findings over the limit, 2 wrong use, 3 input unreadable "
              "or\nincomplete, 4 not enough data to judge; run passes on the program's own.\n"),
          out);
}

/* Lines that a narrow terminal breaks. */
static bool print_remark(const char *remark, FILE *file)
{
    struct outlet *out = outlet_create(FOR_TERMINAL_LINES, file);
    struct terminal_look look = screen_look(fileno(file));

    outlet_show(out, &look);
    outlet_fill_begin(out);
    outlet_format(out, "\n%s\n", remark);
    outlet_fill_end(out, 0);
    return outlet_destroy(out);
}

/* Up to where there is memory. */
static void print_help(const struct command *command, FILE *out)
{
    fprintf(out, "leaktide %s [options] %s\n%s\n\n", command->name, command_operands(command),
            command_meaning(command));
    if (!options_print(command->options, out) ||
        (command->remark && !print_remark(translated(command->remark), out)))
        return;
    if (command->examples)
        fprintf(out, translated("\nExamples\n%s"), command->examples);
}

static const char *command_name_at(const void *context, size_t i)
{
    static const char *const words[] = {"help", "version", "msleaks", "msmemscope"};
    const size_t word_count = sizeof(words) / sizeof(words[0]);
    const struct command *command = i < word_count ? NULL : command_at(i - word_count);

    (void)context;
    return i < word_count ? words[i] : command ? command->name : NULL;
}

static const struct command *command_find(const char *name)
{
    const struct command *command;

    for (size_t i = 0; (command = command_at(i)); i++)
        if (strcmp(command->name, name) == 0)
            break;
    return command;
}

static int say_unknown(const char *name)
{
    const char *nearest = nearest_name(name, command_name_at, NULL);

    if (nearest)
        return complain(EXIT_USAGE, "there is no command %s; did you mean %s?", name, nearest);
    return complain(EXIT_USAGE, "there is no command %s; see leaktide help", name);
}

/* Words of the command line that are no row of the table. */
static const char *help_of_word(const char *name)
{
    static const struct {
        const char *name, *help;
    } words[] = {
        {"version", "leaktide version [-v]\nwhich leaktide this is, and the libraries inside; also "
                    "--version, -V\n"},
        {"help", "leaktide help [COMMAND]\nall commands, or the options of one\n"},
        {"msleaks", "leaktide msleaks [options] PROGRAM [ARG...]\nas msleaks, with its options and "
                    "files: leaktide msleaks --help\n"},
        {"msmemscope", "leaktide msmemscope [options] PROGRAM [ARG...]\nas msmemscope, with its "
                       "options and files: leaktide msmemscope --help\n"},
    };

    for (size_t i = 0; name && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].name, name) == 0)
            return translated(words[i].help);
    return NULL;
}

static int help(const char *name)
{
    const struct command *command = name ? command_find(name) : NULL;

    if (command)
        print_help(command, stdout);
    else if (help_of_word(name))
        fputs(help_of_word(name), stdout);
    else if (name)
        return say_unknown(name);
    else
        print_usage(stdout);
    return EXIT_FINE;
}

static int print_version(const char *word)
{
    const char *name, *version;
    bool is_long = word && (strcmp(word, "-v") == 0 || strcmp(word, "--verbose") == 0);

    if (word && !is_long)
        return complain(EXIT_USAGE, "version takes -v and nothing else: %s", word);
    printf("leaktide %s\n", LEAKTIDE_VERSION);
    for (size_t i = 0; is_long && (name = mt_part_at(i, &version)); i++)
        printf("%s %s\n", name, version);
    return EXIT_FINE;
}

/* An answer that lacks what there was no memory for is none; a program's own status stays. */
static int memory_checked(int code)
{
    if (!memory_failure_count() || (code == EXIT_INPUT && complained_of_input()))
        return code;
    return complain(EXIT_INPUT, "no memory: what was found is not whole");
}

/* Is all of a list of formats read by people? */
static bool is_for_people(const char *formats)
{
    char name[word_most + 1];
    size_t length;

    for (; formats && *formats; formats += length + (formats[length] == ',')) {
        length = strcspn(formats, ",");
        snprintf(name, sizeof(name), "%.*s", (int)length, formats);
        if (!mt_format_is_for_people(name))
            return false;
    }
    return true;
}

/* What programs read is English, in any country. */
static enum mt_result choose_language(const struct options *options, struct mt_error *error)
{
    const char *name = options->values[OPTION_LANGUAGE];

    if (name && !language_choose(name))
        return mt_error_set(error, MT_USAGE, "--lang=%s: there are en and zh", name);
    if (!is_for_people(options->values[OPTION_FORMAT]))
        language_choose("en");
    return MT_OK;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct options options;
    struct mt_error error;
    enum mt_result result =
        options_parse(command->options, command->stops_at_operand, argc, argv, &options, &error);

    if (result == MT_OK)
        result = choose_language(&options, &error);
    if (result == MT_OK)
        result = screen_choose_colours(options.values[OPTION_COLOR], &error);
    if (result != MT_OK)
        return complain(EXIT_USAGE, "%s", error.message);
    if (options.values[OPTION_HELP]) {
        print_help(command, stdout);
        return memory_checked(EXIT_FINE);
    }
    if (command == &command_run)
        return command->run(command, &options);
    return memory_checked(command->run(command, &options));
}

/* What could not be shown was not answered. */
static int finish(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return code == EXIT_FINE ? complain(EXIT_USAGE, "standard output cannot be written") : code;
    return code;
}

int main(int argc, char **argv)
{
    static const char *const help_words[] = {"help", "--help", "-h"};
    static const char *const version_words[] = {"version", "--version", "-V"};
    const struct compat_generation *by_name = argc ? compat_generation_find(argv[0]) : NULL;
    const struct command *command;

    language_choose_usual();
    answer_formats_read();
    if (by_name)
        return finish(memory_checked(compat_command(by_name, argc, argv)));
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(argv[1], help_words[i]) == 0)
            return finish(memory_checked(help(argc > 2 ? argv[2] : NULL)));
        if (strcmp(argv[1], version_words[i]) == 0)
            return finish(print_version(argc > 2 ? argv[2] : NULL));
    }
    by_name = compat_generation_find(argv[1]);
    if (by_name)
        return finish(memory_checked(compat_command(by_name, argc - 1, argv + 1)));
    command = command_find(argv[1]);
    if (!command)
        return say_unknown(argv[1]);
    return finish(run_command(command, argc - 1, argv + 1));
}
