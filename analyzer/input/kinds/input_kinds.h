/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reader is, and the kinds of sources that input.c knows: one folder each.
 */
#ifndef LEAKTIDE_INPUT_KINDS_H
#define LEAKTIDE_INPUT_KINDS_H

#include <stddef.h>

#include "error_sentence.h"
#include "event.h"
#include "model.h"

/* One per kind of source; input.c holds the table. */
struct input_kind {
    const char *name;     /* "leaktide run" */
    const char *contents; /* what it can tell, for `leaktide info` */
    /* 1: path is of this kind; 0: it is not; looks at content, not at names. Never fails. */
    int (*recognises)(const char *path);
    enum mt_result (*open)(const char *path, struct model *model, void **state,
                           struct mt_error *error);
    /* *count 0 is the end. */
    enum mt_result (*next)(void *state, struct event *batch, size_t capacity, size_t *count,
                           struct mt_error *error);
    void (*close)(void *state);
};

extern const struct input_kind input_trace;           /* trace/input_trace.c */
extern const struct input_kind input_snapshot;        /* snapshot/input_snapshot.c */
extern const struct input_kind input_snapshot_folder; /* snapshot/snapshot_folder.c */
extern const struct input_kind input_memscope;        /* memscope/input_memscope.c */
extern const struct input_kind input_chrome;          /* chrome/input_chrome.c */
extern const struct input_kind input_heaptrack;       /* heaptrack/input_heaptrack.c */
extern const struct input_kind input_jemalloc;        /* jemalloc/input_jemalloc.c */
extern const struct input_kind input_process;         /* process/input_process.c */
extern const struct input_kind input_ascend;          /* ascend/input_ascend.c */

#endif
