/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as the csv or the database that msmemscope writes.
 *
 * The database has no table python_trace_*: MindStudio Insight fails to open one that is empty.
 */
#include "memscope_events.h"

static enum mt_result write_row(void *context, const struct memscope_row *row,
                                struct mt_error *error)
{
    return memscope_write(context, row, error);
}

static enum mt_result write_all(const struct export_request *request,
                                struct memscope_writer *writer, bool names_pinned,
                                struct mt_error *error)
{
    const struct memscope_sink sink = {
        .context = writer, .row = write_row, .names_pinned = names_pinned};
    enum mt_result result = memscope_rows_read(request, &sink, error);

    if (result == MT_OK)
        result = memscope_finish(writer, error);
    memscope_writer_destroy(writer);
    return result;
}

enum mt_result export_memscope_csv(const struct export_request *request, struct mt_error *error)
{
    struct memscope_writer *writer;
    enum mt_result result = memscope_csv_create(request->text, &writer, error);

    return result == MT_OK ? write_all(request, writer, false, error) : result;
}

enum mt_result export_memscope_db(const struct export_request *request, struct mt_error *error)
{
    struct memscope_writer *writer;
    enum mt_result result =
        memscope_database_create(request->path, request->name, "memscope_dump", &writer, error);

    return result == MT_OK ? write_all(request, writer, true, error) : result;
}
