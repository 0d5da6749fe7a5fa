/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaktide completion: what shells complete, made from the tables of commands and options.
 *
 * An option's values are words when its argument is written as words, "yes|no"; files when it is
 * FILE or FOLDER.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "command_table.h"
#include "compat_options.h"
#include "compat_page.h"

/* An option as both kinds of tables have it. */
struct completed {
    char letter;
    const char *name, *argument, *words, *meaning;
    bool is_list; /* of several words, separated by commas */
};

typedef void (*option_writer)(const struct completed *option, FILE *out);

static void each_of(const struct option_spec *specs, option_writer write, FILE *out)
{
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        const char *argument = spec->argument && *spec->argument != '[' ? spec->argument : NULL;
        struct completed option = {spec->letter, spec->name,    argument,
                                   argument,     spec->meaning, argument && strchr(argument, ',')};

        write(&option, out);
    }
}

static void each_option(const struct command *command, option_writer write, FILE *out)
{
    each_of(command->options, write, out);
    each_of(common_options, write, out);
}

static void each_compat_option(option_writer write, FILE *out)
{
    for (const struct compat_option *from = compat_options; from->name; from++) {
        struct completed option = {
            from->letters[COMPAT_MSMEMSCOPE],           from->name,    from->argument,
            from->words ? from->words : from->argument, from->meaning, from->is_list};

        if (from->meaning)
            write(&option, out);
    }
}

static bool takes_files(const struct completed *option)
{
    return option->words &&
           (strncmp(option->words, "FILE", 4) == 0 || strncmp(option->words, "FOLDER", 6) == 0);
}

/* "a|b" or "a b" as "a b"; "" when the value is no word of a list. */
static void words_of(const struct completed *option, char *words, size_t words_bytes)
{
    const char *from = option->words;
    size_t length = 0;

    words[0] = 0;
    if (!from || takes_files(option))
        return;
    for (; *from && length + 1 < words_bytes; from++) {
        if (isupper((unsigned char)*from) || strchr("[]<>", *from)) {
            words[0] = 0;
            return;
        }
        words[length++] = strchr("|,", *from) ? ' ' : *from;
    }
    words[length] = 0;
    if (!strchr(words, ' '))
        words[0] = 0; /* one word is the name of a value */
}

/* --- bash --------------------------------------------------------------------------------------
 */

static void bash_name(const struct completed *option, FILE *out)
{
    fprintf(out, " --%s%s", option->name, option->argument ? "=" : "");
}

static void bash_values(const struct completed *option, FILE *out)
{
    char words[256];

    words_of(option, words, sizeof(words));
    if (words[0])
        fprintf(out, "        --%s) _leaktide_words \"%s\"; return ;;\n", option->name, words);
    else if (takes_files(option))
        fprintf(out, "        --%s) _leaktide_files; return ;;\n", option->name);
}

static void bash_command(const char *name, const struct command *command, FILE *out)
{
    fprintf(out, "_leaktide_in_%s() {\n    case \"$option\" in\n", name);
    if (command)
        each_option(command, bash_values, out);
    else
        each_compat_option(bash_values, out);
    fputs("    esac\n    _leaktide_options \"", out);
    if (command)
        each_option(command, bash_name, out);
    else
        each_compat_option(bash_name, out);
    fputs("\"\n}\n", out);
}

static void write_bash(FILE *out)
{
    fputs(
        "# Completion of leaktide, msmemscope and msleaks for bash; made by leaktide completion.\n"
        "_leaktide_words() { # of a list, the last word\n"
        "    local head=; [[ $cur == *,* ]] && head=${cur%,*},\n"
        "    mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$1\" -- \"${cur##*,}\")\n}\n"
        "_leaktide_files() {\n"
        "    compopt -o filenames 2>/dev/null\n"
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}\n"
        "_leaktide_options() {\n"
        "    if [[ $cur != -* ]]; then _leaktide_files; return; fi\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
        "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n}\n",
        out);
    for (size_t i = 0; command_at(i); i++)
        bash_command(command_at(i)->name, command_at(i), out);
    bash_command("msmemscope", NULL, out);
    fputs(
        "_leaktide_in_msleaks() { _leaktide_in_msmemscope; }\n"
        "_leaktide_in_version() { :; }\n"
        "_leaktide_in_help() { _leaktide_words \"$commands\"; }\n"
        "_leaktide() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} commands name\n"
        "    if [[ $cur == = ]]; then cur=\n"
        "    elif [[ $option == = ]]; then option=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "    commands=\"",
        out);
    for (size_t i = 0; command_at(i); i++)
        fprintf(out, "%s ", command_at(i)->name);
    fputs("msleaks msmemscope help version\"\n"
          "    name=${COMP_WORDS[0]##*/}\n"
          "    if [[ $name == leaktide ]]; then\n"
          "        if ((COMP_CWORD == 1)); then _leaktide_words \"$commands\"; return; fi\n"
          "        name=${COMP_WORDS[1]}\n"
          "    fi\n"
          "    declare -F \"_leaktide_in_$name\" >/dev/null && \"_leaktide_in_$name\"\n"
          "}\n"
          "complete -F _leaktide leaktide msmemscope msleaks\n",
          out);
}

/* --- zsh ---------------------------------------------------------------------------------------
 */

static void zsh_text(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            fputc('\\', out);
        if (*text == '\'')
            fputs("'\\'", out);
        fputc(*text, out);
    }
}

static void zsh_option(const struct completed *option, FILE *out)
{
    char words[256];

    fprintf(out, "        '--%s%s[", option->name, option->argument ? "=" : "");
    zsh_text(option->meaning, out);
    fputc(']', out);
    words_of(option, words, sizeof(words));
    if (words[0])
        fprintf(out, option->is_list ? ":value:_values -s , value %s" : ":value:(%s)", words);
    else if (takes_files(option))
        fputs(":file:_files", out);
    else if (option->argument)
        fputs(":value:", out);
    fputs("' \\\n", out);
}

static void zsh_command(const char *name, const struct command *command, FILE *out)
{
    fprintf(out, "    %s)\n        _arguments \\\n", name);
    if (command)
        each_option(command, zsh_option, out);
    else
        each_compat_option(zsh_option, out);
    fprintf(out, "        %s ;;\n",
            !command || command->stops_at_operand ? "'*::program:_normal'" : "'*:file:_files'");
}

static void write_zsh(FILE *out)
{
    fputs("#compdef leaktide msmemscope msleaks\n"
          "# Made by leaktide completion.\n"
          "local name=${service}\n"
          "if [[ $name == leaktide ]]; then\n"
          "    if ((CURRENT == 2)); then\n"
          "        local -a commands=(\n",
          out);
    for (size_t i = 0; command_at(i); i++) {
        fprintf(out, "            '%s:", command_at(i)->name);
        zsh_text(command_meaning(command_at(i)), out);
        fputs("'\n", out);
    }
    fputs("            'msleaks:as msleaks' 'msmemscope:as msmemscope' 'help:help' "
          "'version:version'\n"
          "        )\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    name=${words[2]}\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "fi\n"
          "case $name in\n",
          out);
    for (size_t i = 0; command_at(i); i++)
        zsh_command(command_at(i)->name, command_at(i), out);
    zsh_command("msmemscope|msleaks", NULL, out);
    fputs("esac\n", out);
}

/* --- fish --------------------------------------------------------------------------------------
 */

static const char *fish_when; /* the condition of what is written */

/* In single quotes. */
static void fish_text(const char *text, FILE *out)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (strchr("\\'", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static void fish_option(const struct completed *option, FILE *out)
{
    char words[256];

    fprintf(out, "%s -l %s", fish_when, option->name);
    if (option->letter)
        fprintf(out, " -s %c", option->letter);
    words_of(option, words, sizeof(words));
    if (words[0])
        fprintf(out, " -x -a '%s'", words);
    else if (takes_files(option))
        fputs(" -r -F", out);
    else if (option->argument)
        fputs(" -x", out);
    fputs(" -d ", out);
    fish_text(option->meaning, out);
    fputc('\n', out);
}

static void fish_word(const char *name, const char *meaning, FILE *out)
{
    fprintf(out, "complete -c leaktide -n __fish_use_subcommand -f -a %s -d ", name);
    fish_text(meaning, out);
    fputc('\n', out);
}

static void write_fish(FILE *out)
{
    char when[128];

    fputs(
        "# Completion of leaktide, msmemscope and msleaks for fish; made by leaktide completion.\n",
        out);
    for (size_t i = 0; command_at(i); i++)
        fish_word(command_at(i)->name, command_meaning(command_at(i)), out);
    fish_word("msleaks", "as msleaks", out);
    fish_word("msmemscope", "as msmemscope", out);
    fish_word("help", "help", out);
    fish_word("version", "version", out);
    fish_when = when;
    for (size_t i = 0; command_at(i); i++) {
        snprintf(when, sizeof(when), "complete -c leaktide -n '__fish_seen_subcommand_from %s'",
                 command_at(i)->name);
        each_option(command_at(i), fish_option, out);
    }
    fish_when = "complete -c leaktide -n '__fish_seen_subcommand_from msmemscope msleaks'";
    each_compat_option(fish_option, out);
    fish_when = "complete -c msmemscope";
    each_compat_option(fish_option, out);
    fputs("complete -c msleaks -w msmemscope\n", out);
}

/* --- the command --------------------------------------------------------------------------------
 */

static const struct option_spec options[] = {
    {OPTION_OUTPUT, 'o', "output", "FILE", "where to (standard output)"},
    {0, 0, NULL, NULL, NULL},
};

static int run(const struct command *command, const struct options *given)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out);
    } pages[] = {
        {"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}, {"man", compat_write_man}};
    const char *path = given->values[OPTION_OUTPUT];
    const char *name = given->operand_count == 1 ? given->operands[0] : "";
    FILE *out;

    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (strcmp(pages[i].name, name) != 0)
            continue;
        out = path ? fopen(path, "w") : stdout;
        if (!out)
            return complain(EXIT_USAGE, "%s: %s", path, strerror(errno));
        pages[i].write(out);
        if (path && fclose(out) != 0)
            return complain(EXIT_USAGE, "%s: %s", path, strerror(errno));
        return EXIT_FINE;
    }
    return complain(EXIT_USAGE, "%s needs one of bash, zsh, fish, man", command->name);
}

const struct command command_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish|man",
    .meaning = "what a shell completes; the man page of msmemscope",
    .options = options,
    .run = run,
    .remark = "In a shell: source <(leaktide completion bash)",
};
