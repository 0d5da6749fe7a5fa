/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one page for a browser: the skeleton, the verdict as text that needs no script, the
 * JSON report and the datasets. docs/html-report.md tells how it is put together.
 */
#include <stdlib.h>
#include <string.h>

#include "page_bytes.h"
#include "payload.h"
#include "report.h"

static bool write_bytes(const unsigned char *bytes, size_t size_bytes, FILE *out)
{
    return fwrite(bytes, 1, size_bytes, out) == size_bytes;
}

/* Everything that could mean something to HTML is written by its number. */
static bool write_escaped(const char *text, FILE *out)
{
    for (const char *at = text; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        bool is_plain = strchr("<>&\"'", byte) == NULL && byte >= 0x20 && byte != 0x7f;

        if (is_plain ? fputc(byte, out) == EOF : fprintf(out, "&#%u;", byte < 0x20 ? 32 : byte) < 0)
            return false;
    }
    return true;
}

static bool write_verdict(const struct report *report, FILE *out)
{
    bool is_ok = true;

    for (size_t i = 0; is_ok && i < report_verdict_count(report); i++)
        is_ok = fputs("<p>", out) != EOF && write_escaped(report_verdict_at(report, i), out) &&
                fputs("</p>\n", out) != EOF;
    return is_ok;
}

static bool write_json_report(const struct report *report, FILE *out)
{
    char *bytes = NULL;
    size_t size_bytes = 0;
    FILE *memory = open_memstream(&bytes, &size_bytes);
    bool is_ok = memory != NULL;

    if (memory) {
        is_ok = report_write_json(report, memory);
        is_ok = fclose(memory) == 0 && is_ok;
    }
    is_ok = is_ok && payload_write_text("report", bytes, size_bytes, out);
    free(bytes);
    return is_ok;
}

bool report_write_html(const struct report *report, FILE *out)
{
    bool is_ok = write_bytes(page_before_verdict, page_before_verdict_bytes, out) &&
                 write_verdict(report, out) &&
                 write_bytes(page_before_data, page_before_data_bytes, out) &&
                 write_json_report(report, out);

    for (size_t i = 0; is_ok && i < report_dataset_count(report); i++)
        is_ok = payload_write_dataset(report, i, out);
    return is_ok && write_bytes(page_after_data, page_after_data_bytes, out);
}
