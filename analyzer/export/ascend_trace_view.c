/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a Chrome trace, as torch_npu writes them: times are texts, in microseconds.
 */
#include "ascend_trace_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "leaktide/profiler_step.h"
#include "outlet.h"

struct trace_view {
    const char *path, *name;
    uint64_t process_id;
    FILE *file; /* NULL before the first step */
    struct outlet *out;
};

static enum mt_result say_errno(const struct trace_view *view, struct mt_error *error)
{
    return mt_error_set(error, MT_USAGE, "%s: %s", view->name, strerror(errno ? errno : EIO));
}

static enum mt_result begin(struct trace_view *view, struct mt_error *error)
{
    view->file = fopen(view->path, "w");
    if (!view->file)
        return say_errno(view, error);
    view->out = outlet_create(FOR_JSON, view->file);
    outlet_format(view->out,
                  "[{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %" PRIu64
                  ", \"tid\": 0, \"args\": {\"name\": \"Python\"}}",
                  view->process_id);
    return MT_OK;
}

static enum mt_result put_step(void *context, const struct database_row *row,
                               struct mt_error *error)
{
    enum { NUMBER, BEGIN, DURATION };
    struct trace_view *view = context;
    uint64_t begin_ns = (uint64_t)row_number(row, BEGIN);
    uint64_t duration_ns = (uint64_t)row_number(row, DURATION);

    if (!view->file && begin(view, error) != MT_OK)
        return MT_USAGE;
    outlet_format(view->out,
                  ",\n{\"ph\": \"X\", \"name\": \"" MT_PROFILER_STEP "%" PRId64
                  "\", \"pid\": %" PRIu64 ", \"tid\": %" PRIu64 ", \"ts\": \"%" PRIu64 ".%03" PRIu64
                  "\", \"dur\": %" PRIu64 ".%03" PRIu64 ", \"cat\": \"cpu_op\", \"args\": {}}",
                  row_number(row, NUMBER), view->process_id, view->process_id, begin_ns / 1000,
                  begin_ns % 1000, duration_ns / 1000, duration_ns % 1000);
    return MT_OK;
}

enum mt_result ascend_trace_view_write(struct database_writer *tables, const char *folder,
                                       const char *name, uint64_t process_id,
                                       struct mt_error *error)
{
    struct text_builder path;
    struct trace_view view = {.name = name, .process_id = process_id};
    bool is_written;
    enum mt_result result;

    text_init(&path);
    text_add_format(&path, "%s/trace_view.json", folder);
    view.path = text_get(&path);
    result =
        database_each(tables, "SELECT id, startNs, endNs - startNs FROM STEP_TIME ORDER BY startNs",
                      put_step, &view, error);
    if (view.file) {
        outlet_add(view.out, "]\n");
        is_written = outlet_destroy(view.out);
        if ((fclose(view.file) != 0 || !is_written) && result == MT_OK)
            result = say_errno(&view, error);
    }
    text_release(&path);
    return result;
}
