/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts in csv files.
 */
#include "csv_text.h"

#include <string.h>

void csv_put_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void csv_put_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n"))
        csv_put_quoted(out, text);
    else
        fputs(text, out);
}
