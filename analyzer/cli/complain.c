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
#include "sentence.h"
#include "waiting.h"

static bool has_complained_of_input;

/* False: there was no memory for these words. */
static bool tell_arguments(const char *format, va_list arguments)
{
    const char *no_memory = translated("leaktide: no memory\n");
    struct outlet *out = outlet_create(FOR_TERMINAL, stderr);

    waiting_end();
    outlet_add(out, "leaktide: ");
    outlet_add_arguments(out, translated(format), arguments);
    outlet_add(out, "\n");
    if (outlet_destroy(out))
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

void tell_format(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell_arguments(format, arguments);
    va_end(arguments);
}
