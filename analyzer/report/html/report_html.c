/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one page for a browser: the skeleton, the verdict as text that needs no script, the
 * JSON report and the datasets. docs/html-report.md tells how it is put together.
 */
#include "report_html.h"

#include <stdlib.h>
#include <string.h>

#include "json_page.h"
#include "language.h"
#include "leaktide/invariant.h"
#include "page_bytes.h"
#include "payload.h"
#include "report_json.h"
#include "source_lines.h"

static void write_verdict(const struct report *report, struct outlet *out)
{
    for (size_t i = 0; i < report_verdict_count(report); i++) {
        outlet_add_either(out, language_is_english(), "<p>", "<p lang=\"zh\">");
        outlet_format(out, "%s</p>\n", report_verdict_at(report, i));
    }
}

static uint64_t flags_of(const struct report_frame *frame)
{
    return (frame->is_inlined ? 1 : 0) | (frame->folded_as ? 2 : 0) | (frame->is_python ? 4 : 0);
}

/* The frames of stacks in the JSON. */
static void write_report_frames(const struct json_page *page, struct outlet *out)
{
    size_t count = page->frames.count;
    const char **texts = calloc(3 * count + 1, sizeof(*texts));
    uint64_t *numbers = calloc(2 * count + 1, sizeof(*numbers));
    const struct report_dataset_column columns[] = {
        {"function", NULL, texts, count},           {"file", NULL, texts + count, count},
        {"module", NULL, texts + 2 * count, count}, {"line", numbers, NULL, count},
        {"flags", numbers + count, NULL, count},
    };

    for (size_t i = 0; texts && numbers && i < count; i++) {
        const struct report_frame *frame = json_page_frame_at(page, i);

        texts[i] = frame->function;
        texts[count + i] = frame->file;
        texts[2 * count + i] = frame->module;
        numbers[i] = frame->line;
        numbers[count + i] = flags_of(frame);
    }
    if (texts && numbers)
        payload_write_columns("report-frames", columns, sizeof(columns) / sizeof(columns[0]), out);
    else
        outlet_fail(out);
    free(texts);
    free(numbers);
}

static void write_report_nodes(const struct json_page *page, struct outlet *out)
{
    size_t count = page->nodes.count;
    uint64_t *numbers = calloc(2 * count + 1, sizeof(*numbers));
    const struct report_dataset_column columns[] = {
        {"frame", numbers, NULL, count},
        {"outer", numbers + count, NULL, count},
    };

    if (!numbers) {
        outlet_fail(out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct json_page_node *node = table_at(&page->nodes, i);

        numbers[i] = node->frame;
        numbers[count + i] = node->outer;
    }
    payload_write_columns("report-nodes", columns, sizeof(columns) / sizeof(columns[0]), out);
    free(numbers);
}

static void want_lines_of_report(struct source_lines *sources, const struct json_page *page)
{
    for (size_t i = 0; i < page->frames.count; i++) {
        const struct report_frame *frame = json_page_frame_at(page, i);

        source_lines_want(sources, frame->file, frame->line);
    }
}

/* sources: what its frames want of them; NULL: nothing */
static void write_json_report(const struct report *report, struct source_lines *sources,
                              struct outlet *out)
{
    struct outlet *json = outlet_create(FOR_PAGE_JSON, NULL);
    struct json_page page;

    json_page_init(&page);
    report_write_page_json(report, &page, json);
    if (MT_ASSERTS && !page.has_failed)
        json_page_check(&page);
    payload_write_json("report", json, out);
    write_report_frames(&page, out);
    write_report_nodes(&page, out);
    if (sources)
        want_lines_of_report(sources, &page);
    if (page.has_failed)
        outlet_fail(out);
    json_page_release(&page);
    outlet_destroy(json);
}

/* What people call the tables, in their order, and the sentences below them: not in the JSON. */
static void write_titles(const struct report *report, struct outlet *out)
{
    size_t count = report_table_count(report), used = 0;
    const char **texts = calloc(2 * count + 1, sizeof(*texts));
    const struct report_dataset_column columns[] = {
        {"title", NULL, texts, count},
        {"remark", NULL, texts + count, count},
    };

    if (!texts) {
        outlet_fail(out);
        return;
    }
    for (; used < count; used++) {
        struct report_table_view view = report_table_at(report, used);

        texts[used] = view.title;
        texts[count + used] = view.remark_count ? report_remark_at(report, used, 0) : "";
    }
    payload_write_columns("titles", columns, sizeof(columns) / sizeof(columns[0]), out);
    free(texts);
}

static size_t column_count_of_all(const struct report *report)
{
    size_t count = 0;

    for (size_t i = 0; i < report_table_count(report); i++)
        count += report_table_at(report, i).column_count;
    return count;
}

/* The same of columns. */
static void write_column_titles(const struct report *report, struct outlet *out)
{
    size_t count = column_count_of_all(report), used = 0;
    const char **texts = calloc(3 * count + 1, sizeof(*texts));
    const struct report_dataset_column columns[] = {
        {"table", NULL, texts, count},
        {"key", NULL, texts + count, count},
        {"title", NULL, texts + 2 * count, count},
    };

    if (!texts) {
        outlet_fail(out);
        return;
    }
    for (size_t i = 0; i < report_table_count(report); i++) {
        struct report_table_view view = report_table_at(report, i);

        for (size_t c = 0; c < view.column_count; c++, used++) {
            texts[used] = view.name;
            texts[count + used] = view.columns[c].key;
            /* The page makes a title of the key then. */
            texts[2 * count + used] = view.columns[c].title ? view.columns[c].title : "";
        }
    }
    payload_write_columns("column-titles", columns, sizeof(columns) / sizeof(columns[0]), out);
    free(texts);
}

static const struct report_dataset_column *find_column(const struct report *report,
                                                       const char *dataset, const char *key)
{
    for (size_t i = 0; i < report_dataset_count(report); i++) {
        struct report_dataset_view view = report_dataset_at(report, i);

        for (size_t c = 0; c < view.column_count; c++)
            if (strcmp(view.name, dataset) == 0 && strcmp(view.columns[c].key, key) == 0)
                return &view.columns[c];
    }
    return NULL;
}

static void want_lines_of_pictures(struct source_lines *sources, const struct report *report)
{
    const struct report_dataset_column *file = find_column(report, "frames", "file");
    const struct report_dataset_column *line = find_column(report, "frames", "line");
    const struct report_dataset_column *names = find_column(report, "names", "text");

    for (size_t i = 0; file && line && names && i < file->count; i++)
        source_lines_want(sources, names->texts[file->numbers[i]], line->numbers[i]);
}

/* When the recording began, since 1970; 0: not known. */
static uint64_t recorded_ns(const struct report *report)
{
    for (size_t i = 0; i < report_fact_count(report); i++) {
        const struct field *fact = report_fact_at(report, i);

        if (strcmp(fact->key, "start_realtime_ns") == 0 && fact->value.kind != VALUE_NONE)
            return fact->value.number;
    }
    return 0;
}

void report_write_html(const struct report *report, bool has_sources, struct outlet *out)
{
    struct source_lines sources;

    source_lines_init(&sources, recorded_ns(report));
    outlet_page(out, page_before_verdict, page_before_verdict_bytes);
    write_verdict(report, out);
    outlet_page(out, page_before_data, page_before_data_bytes);
    write_json_report(report, has_sources ? &sources : NULL, out);
    write_titles(report, out);
    write_column_titles(report, out);
    for (size_t i = 0; i < report_dataset_count(report); i++) {
        struct report_dataset_view view = report_dataset_at(report, i);

        payload_write_columns(view.name, view.columns, view.column_count, out);
    }
    if (has_sources) {
        want_lines_of_pictures(&sources, report);
        source_lines_write(&sources, out);
    }
    source_lines_release(&sources);
    outlet_page(out, page_after_data, page_after_data_bytes);
}
