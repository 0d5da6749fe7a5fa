/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one msleaks or msmemscope file as they stand there, for questions that the tool
 * itself answers from its files: identifiers, signs and shadow frees are kept, which the model of a
 * recording does not have.
 *
 * Texts are numbers of model_text(); equal texts have equal numbers.
 */
#ifndef LEAKTIDE_DUMP_ROWS_H
#define LEAKTIDE_DUMP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"
#include "model.h"

enum dump_event {
    DUMP_OTHER,
    DUMP_MALLOC,
    DUMP_FREE,
    DUMP_ACCESS,
    DUMP_OPERATOR_BEGIN,
    DUMP_OPERATOR_END,
    DUMP_MARK,
    DUMP_TRACE_BEGIN,
    DUMP_TRACE_END
};

/* Families of pools: blocks of one are touched by the operators of one. */
enum dump_pool {
    DUMP_POOL_OTHER,
    DUMP_POOL_HAL,
    DUMP_POOL_PTA,
    DUMP_POOL_ATB,
    DUMP_POOL_MINDSPORE
};

/* What the columns "Event" and "Event Type" mean. */
enum dump_event dump_event_named(const char *event, const char *type);
enum dump_pool dump_pool_named(const char *type);

struct dump_row {
    uint64_t id, time_ns, address, size_bytes, process_id, thread_id;
    uint64_t allocation_id; /* 0: none */
    uint32_t name, device;  /* texts */
    uint32_t number;        /* of the row in the file, from 0 */
    uint8_t event;          /* enum dump_event */
    uint8_t pool;           /* enum dump_pool */
    bool is_negative;       /* the size is written with a minus: frees of old files */
    bool is_shadow;         /* a free that only the tool's exit made */
};

struct dump_rows {
    struct model *model; /* of the texts */
    struct dump_row *rows;
    size_t count, capacity;
    uint64_t bad_count; /* rows that make no sense, and were left out */
};

/* A csv or a database; seen from its content. MT_IO, MT_CORRUPT, MT_UNSUPPORTED, MT_NO_MEMORY. */
enum mt_result dump_rows_read(struct dump_rows *rows, const char *path, struct model *model,
                              struct mt_error *error);
void dump_rows_release(struct dump_rows *rows);

/* By time, then by id; and by id alone. */
void dump_rows_by_time(struct dump_rows *rows);
void dump_rows_by_id(struct dump_rows *rows);

#endif
