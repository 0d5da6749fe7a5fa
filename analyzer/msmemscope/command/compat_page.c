/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The man page of msmemscope and msleaks.
 */
#include "compat_page.h"

#include "compat_options.h"

static const char head[] =
    ".\\\" SPDX-License-Identifier: Apache-2.0\n"
    ".Dd November 21, 2026\n"
    ".Dt MSMEMSCOPE 1\n"
    ".Os\n"
    ".Sh NAME\n"
    ".Nm msmemscope ,\n"
    ".Nm msleaks\n"
    ".Nd record the memory of a program, with the options and files of the tools of that name\n"
    ".Sh SYNOPSIS\n"
    ".Nm msmemscope\n"
    ".Op Ar options\n"
    ".Ar program Op Ar argument ...\n"
    ".Nm msmemscope\n"
    ".Fl -compare Fl -input-path Ns = Ns Ar file Ns , Ns Ar file\n"
    ".Nm msmemscope\n"
    ".Fl -analysis Ns = Ns Cm leaks | inefficient\n"
    ".Fl -input-path Ns = Ns Ar file\n"
    ".Nm msmemscope\n"
    ".Fl -pid Ns = Ns Ar process Fl -command Ns = Ns Ar words\n"
    ".Sh DESCRIPTION\n"
    "These are names of\n"
    ".Xr leaktide 1 ,\n"
    "which then takes the options of msleaks and msmemscope, of all their versions, and writes\n"
    "their files, a set for each process.\n"
    "Options may stand before and after the program, up to the first that is not known, or up to\n"
    ".Fl - .\n"
    "Lists are separated by commas, also by the full-width one.\n"
    "The recording itself stays in the output folder, for the other commands of leaktide.\n"
    ".Sh OPTIONS\n"
    ".Bl -tag -width Ds\n";

static const char tail[] =
    ".El\n"
    ".Sh EXIT STATUS\n"
    "The program's own; 127 when it could not be started.\n"
    "Without a program: 0 fine, 1 something was found, 2 wrong use, 3 an input is unreadable or\n"
    "incomplete, 4 there is not enough data.\n"
    ".Sh SEE ALSO\n"
    ".Xr leaktide 1\n";

/* A minus is not a hyphen, and a line must not begin with a dot. */
static void write_text(const char *text, FILE *out)
{
    for (; *text; text++)
        if (*text == '-' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
}

static void write_option(const struct compat_option *option, FILE *out)
{
    char letter = option->letters[COMPAT_MSMEMSCOPE];

    fputs(".It ", out);
    if (letter)
        fprintf(out, "Fl %c , ", letter);
    fprintf(out, "Fl -%s", option->name);
    if (option->argument) {
        fputs(" Ns = Ns Ar \"", out);
        write_text(option->argument, out);
        fputc('"', out);
    }
    fputc('\n', out);
    if (option->meaning)
        write_text(option->meaning, out);
    else if (option->stands_for)
        fprintf(out, "An old name of\n.Fl -%s .", option->stands_for);
    else
        fputs("Accepted for old scripts; has no effect.", out);
    fputc('\n', out);
}

void compat_write_man(FILE *out)
{
    fputs(head, out);
    for (const struct compat_option *option = compat_options; option->name; option++)
        write_option(option, out);
    fputs(tail, out);
}
