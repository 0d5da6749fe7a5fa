/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a recording as rows of msmemscope, in order of time within a process.
 *
 * Rows are handed to a sink, which may write them to one file or, by device, to several. The
 * format cannot carry reserved sizes apart from allocs, samples and who freed a block.
 */
#ifndef LEAKTIDE_MEMSCOPE_EVENTS_H
#define LEAKTIDE_MEMSCOPE_EVENTS_H

#include "export.h"
#include "memscope_writer.h"

struct memscope_sink {
    void *context;
    /* The row is borrowed until it returns. */
    enum mt_result (*row)(void *context, const struct memscope_row *row, struct mt_error *error);
    /* Pinned memory is HOST_PINNED, the name that Insight knows, and not HOST, the tool's. */
    bool names_pinned;
    /* A step that a row of the system ends begins here; NULL: nobody wants to know. */
    void (*told_step)(void *context);
};

/* As lives_read(), or what the sink returned. */
enum mt_result memscope_rows_read(const struct export_request *request,
                                  const struct memscope_sink *sink, struct mt_error *error);

enum mt_result export_memscope_csv(const struct export_request *request, struct mt_error *error);
enum mt_result export_memscope_db(const struct export_request *request, struct mt_error *error);

#endif
