/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of sources that input.c knows; one file or folder each.
 */
#ifndef LEAKTIDE_INPUT_KINDS_H
#define LEAKTIDE_INPUT_KINDS_H

#include "input.h"

extern const struct input_kind input_trace;     /* trace/input_trace.c */
extern const struct input_kind input_snapshot;  /* snapshot/input_snapshot.c */
extern const struct input_kind input_memscope;  /* memscope/input_memscope.c */
extern const struct input_kind input_chrome;    /* chrome/input_chrome.c */
extern const struct input_kind input_heaptrack; /* heaptrack/input_heaptrack.c */
extern const struct input_kind input_jemalloc;  /* jemalloc/input_jemalloc.c */
extern const struct input_kind input_ascend;    /* ascend/input_ascend.c */

#endif
