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

/* What people call the tables, and the sentences below them: not in the JSON. */
static bool write_titles(const struct report *report, FILE *out)
{
    size_t count = report_table_count(report), used = 0;
    const char **texts = calloc(3 * count + 1, sizeof(*texts));
    const struct report_dataset_column columns[] = {
        {"name", NULL, texts, count},
        {"title", NULL, texts + count, count},
        {"remark", NULL, texts + 2 * count, count},
    };
    bool is_ok;

    if (!texts)
        return false;
    for (; used < count; used++) {
        struct report_table_view view = report_table_at(report, used);

        texts[used] = view.name;
        texts[count + used] = view.title;
        texts[2 * count + used] = view.remark_count ? report_remark_at(report, used, 0) : "";
    }
    is_ok = payload_write_columns("titles", columns, sizeof(columns) / sizeof(columns[0]), out);
    free(texts);
    return is_ok;
}

static size_t column_count_of_all(const struct report *report)
{
    size_t count = 0;

    for (size_t i = 0; i < report_table_count(report); i++)
        count += report_table_at(report, i).column_count;
    return count;
}

/* The same of columns. */
static bool write_column_titles(const struct report *report, FILE *out)
{
    size_t count = column_count_of_all(report), used = 0;
    const char **texts = calloc(3 * count + 1, sizeof(*texts));
    const struct report_dataset_column columns[] = {
        {"table", NULL, texts, count},
        {"key", NULL, texts + count, count},
        {"title", NULL, texts + 2 * count, count},
    };
    bool is_ok;

    if (!texts)
        return false;
    for (size_t i = 0; i < report_table_count(report); i++) {
        struct report_table_view view = report_table_at(report, i);

        for (size_t c = 0; c < view.column_count; c++, used++) {
            texts[used] = view.name;
            texts[count + used] = view.columns[c].key;
            /* The page makes a title of the key then. */
            texts[2 * count + used] = view.columns[c].title ? view.columns[c].title : "";
        }
    }
    is_ok =
        payload_write_columns("column-titles", columns, sizeof(columns) / sizeof(columns[0]), out);
    free(texts);
    return is_ok;
}

bool report_write_html(const struct report *report, FILE *out)
{
    bool is_ok = write_bytes(page_before_verdict, page_before_verdict_bytes, out) &&
                 write_verdict(report, out) &&
                 write_bytes(page_before_data, page_before_data_bytes, out) &&
                 write_json_report(report, out) && write_titles(report, out) &&
                 write_column_titles(report, out);

    for (size_t i = 0; is_ok && i < report_dataset_count(report); i++) {
        struct report_dataset_view view = report_dataset_at(report, i);

        is_ok = payload_write_columns(view.name, view.columns, view.column_count, out);
    }
    return is_ok && write_bytes(page_after_data, page_after_data_bytes, out);
}
