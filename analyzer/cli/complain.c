/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command says beside its answers, on stderr.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "outlet.h"
#include "screen.h"
#include "sentence.h"
#include "waiting.h"

static bool has_complained_of_input;

static struct outlet *line_begin(void)
{
    struct outlet *out = outlet_create(FOR_TERMINAL, stderr);
    struct terminal_look look = screen_look(STDERR_FILENO);

    waiting_end();
    outlet_show(out, &look);
    outlet_fill_begin(out);
    outlet_style(out, STYLE_STRONG);
    outlet_add(out, "leaktide: ");
    outlet_style(out, STYLE_PLAIN);
    return out;
}

static bool line_end(struct outlet *out)
{
    outlet_add(out, "\n");
    outlet_fill_end(out, 2);
    return outlet_destroy(out);
}

/* False: there was no memory for these words. */
static bool tell_arguments(const char *format, va_list arguments)
{
    const char *no_memory = translated("leaktide: no memory\n");
    struct outlet *out = line_begin();

    outlet_add_arguments(out, translated(format), arguments);
    if (line_end(out))
        return true;
    (void)!write(STDERR_FILENO, no_memory, strlen(no_memory));
    return false;
}

int complain_format(enum exit_code code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (!tell_arguments(format, arguments))
        code = EXIT_INPUT;
    va_end(arguments);
    has_complained_of_input |= code == EXIT_INPUT;
    return code;
}

bool complained_of_input(void)
{
    return has_complained_of_input;
}

int complain_about(enum mt_result result, const struct mt_error *error)
{
    const char *option = error->option ? option_of_member(error->option) : NULL;

    return complain(exit_code_of_result(result), "%s%s%s%s", error->message, option ? " (--" : "",
                    option ? option : "", option ? ")" : "");
}

void tell_verdict(const char *sentence)
{
    struct outlet *out = line_begin();

    outlet_headline(out, sentence);
    line_end(out);
}

void tell_format(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell_arguments(format, arguments);
    va_end(arguments);
}
