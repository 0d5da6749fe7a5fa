/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording, written for another program.
 *
 * An exporter looks at a recording as an analysis does, through a question; what changes with every
 * event it reads a second time (lives.h), so memory grows with live blocks and sites. It writes to
 * a place of its own: export_write() puts the result where it was asked for only when it is whole,
 * so what stood there before is not lost to a full disk.
 *
 * A new one is a file and a line in the table of exporters.c. docs/how-to-add-a-writer.md.
 */
#ifndef LEAKTIDE_EXPORT_H
#define LEAKTIDE_EXPORT_H

#include <stdio.h>

#include "analysis.h"
#include "arena.h"
#include "outlet.h"

enum export_target {
    EXPORT_STREAM, /* request->out, for bytes; may be standard output */
    EXPORT_TEXT,   /* request->text, for the exporter's reader; may be standard output, too */
    EXPORT_FILE,   /* request->path: does not exist yet */
    EXPORT_FOLDER  /* request->path: exists and is empty */
};

struct export_request {
    const struct question *question;
    struct model *model;  /* as the question's; a second reading fills it again */
    struct arena *labels; /* texts of labels.h live here */
    const char *path;     /* where to write now */
    const char *name;     /* what the user calls it, for sentences */
    FILE *out;            /* of an EXPORT_STREAM; its errors are looked at by the caller */
    struct outlet *text;  /* of an EXPORT_TEXT; so are these */
};

struct exporter {
    const char *name; /* "sqlite" */
    const char *meaning;
    enum export_target target;
    enum audience audience; /* of an EXPORT_TEXT */
    enum mt_result (*write)(const struct export_request *request, struct mt_error *error);
};

extern const struct exporter exporters[]; /* ends with a NULL name */

const struct exporter *exporter_find(const char *name);

/*
 * path  a file, which is replaced, or for an EXPORT_FOLDER a folder that is not there or empty;
 *       NULL: standard output, for an EXPORT_STREAM or EXPORT_TEXT
 *
 * MT_USAGE: the path cannot be written or may not be replaced. Else what reading again returns.
 */
enum mt_result export_write(const struct exporter *exporter, const struct question *question,
                            struct model *model, const char *path, struct mt_error *error);

/* To be added to the times of events of a process: nanoseconds since 1970. 0: not known. */
static inline uint64_t export_realtime_base(const struct model_process *process)
{
    return process->start_realtime_ns > process->start_ns
               ? process->start_realtime_ns - process->start_ns
               : 0;
}

/* A pickle, or JSON where there is a text. */
enum mt_result export_memory_viz(const struct export_request *request, struct mt_error *error);
enum mt_result export_csv(const struct export_request *request, struct mt_error *error);
enum mt_result export_ascend(const struct export_request *request, struct mt_error *error);
enum mt_result export_sqlite(const struct export_request *request, struct mt_error *error);

#endif
