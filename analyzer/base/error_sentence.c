/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures as a result code and one sentence.
 */
#include "error_sentence.h"

#include <stdarg.h>
#include <stdio.h>

#include "sentence.h"

enum mt_result mt_error_set(struct mt_error *error, enum mt_result result, const char *english, ...)
{
    if (error) {
        va_list arguments;

        va_start(arguments, english);
        vsnprintf(error->message, sizeof(error->message), translated(english), arguments);
        va_end(arguments);
        error->option = NULL;
    }
    return result;
}

enum mt_result mt_error_of(struct mt_error *error, const char *option, enum mt_result result)
{
    if (error)
        error->option = option;
    return result;
}
