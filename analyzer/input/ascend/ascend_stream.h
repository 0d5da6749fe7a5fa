/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every file of an Ascend profile is turned into: rows in order of time, in integers.
 *
 *   operator_memory ──► ASCEND_BLOCK      a life: [time, release)
 *   memory_record  ┐
 *   npu_module_mem ├──► ASCEND_COUNTERS   values of counters at a time
 *   npu_mem        ┘
 *   steps          ──► ASCEND_STEP_BEGIN, ASCEND_STEP_END
 *
 * One stream per kind of file and rank; ascend_replay.c merges them into events. Times are those
 * of the file, in nanoseconds since 1970.
 */
#ifndef LEAKTIDE_ASCEND_STREAM_H
#define LEAKTIDE_ASCEND_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"
#include "model.h"

enum { ASCEND_COUNTERS_MAX = 4 };

enum ascend_row_kind {
    ASCEND_BLOCK,
    ASCEND_OLDER_RELEASE, /* of a block that was allocated before the window */
    ASCEND_COUNTERS,
    ASCEND_STEP_BEGIN,
    ASCEND_STEP_END
};

/* A counter that the row may lack. */
struct ascend_total {
    uint64_t bytes;
    bool is_known;
};

struct ascend_row {
    uint64_t time_ns;
    enum ascend_row_kind kind;
    uint16_t pool, place;
    uint64_t id;   /* of a block: which row it is; of a step: its number */
    uint32_t name; /* text: operator */
    uint64_t size_bytes;
    uint64_t release_ns;  /* 0: not released */
    uint64_t last_use_ns; /* 0: not known */
    uint32_t site;        /* 0: not known */
    uint64_t returned_ns; /* no stream used it any more; 0: the source does not tell */
    uint32_t stream_name; /* text */
    /* The pool's own counters, right after the alloc and after the release. */
    struct ascend_total allocated, reserved, release_allocated;
    bool is_workspace; /* ended by the next one of its stream */
    uint64_t stream;
    unsigned counter_count; /* of a block: `allocated` is the first, or none are of its pool */
    struct ascend_counter {
        uint32_t text;
        uint64_t bytes;
    } counters[ASCEND_COUNTERS_MAX];
};

struct ascend_stream {
    void *state;
    /* *has_row false is the end. */
    enum mt_result (*next)(void *state, struct ascend_row *row, bool *has_row,
                           struct mt_error *error);
    void (*close)(void *state);
    uint64_t first_ns, last_ns; /* of its rows; UINT64_MAX and 0 when it has none */
};

/* What is known of a rank before its rows are read. */
struct ascend_rank {
    struct model *model;
    bool is_mindspore;
    bool has_record;                 /* there is a memory_record: it has the counters */
    uint64_t record_megabyte;        /* how many bytes "MB" means in memory_record */
    const uint64_t *workspace_times; /* sorted; when the workspace was used */
    size_t workspace_count;
};

/* A place of that device, -1 for an unknown one. */
uint16_t ascend_place(struct model *model, int32_t device);
uint16_t ascend_pool(struct model *model, const char *name);
uint32_t ascend_text(struct model *model, const char *terminated);

#endif
