/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts in csv files.
 */
#include "csv_text.h"

#include <string.h>

void csv_put_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
