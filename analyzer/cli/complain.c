/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command says beside its answers, on stderr.
 */
#include <stdarg.h>
#include <stdio.h>

#include "commands.h"
#include "outlet.h"
#include "waiting.h"

static void tell_arguments(const char *format, va_list arguments)
{
    struct outlet *out = outlet_create(FOR_TERMINAL, stderr);

    waiting_end();
    outlet_add(out, "leaktide: ");
    outlet_add_arguments(out, format, arguments);
    outlet_add(out, "\n");
    outlet_destroy(out);
}

int complain_format(enum exit_code code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell_arguments(format, arguments);
    va_end(arguments);
    return code;
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
