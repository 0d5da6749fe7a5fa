/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a message of mstx means. Messages come from frameworks and from anybody else, so nothing
 * about them is trusted: what does not read as one of these is a plain mark.
 *
 *   memscope-aten-b: name=<op>      an operator begins     (also leaks-aten-b:)
 *   memscope-aten-e: name=<op>      it ends
 *   memscope-aten-ac:ptr=<n>;is_write=True;is_read=False;is_output=False;name=<op>;
 *                    shape=torch.Size([2, 3]);dtype=torch.float32;tensor_size=<n>;device=npu:0
 *   sanitizer-op: name=<op>;read=<alias:address:size>,...;write=<alias:address:size>,...
 *   step start                      of a range: a step; bare or in double quotes
 *
 * All texts point into the message.
 */
#ifndef LEAKTIDE_TRACER_MSTX_TEXT_H
#define LEAKTIDE_TRACER_MSTX_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder.h"

enum mstx_mark_kind {
    MSTX_MARK_PLAIN,
    MSTX_MARK_OPERATOR_BEGIN,
    MSTX_MARK_OPERATOR_END,
    MSTX_MARK_ACCESS,   /* of one block */
    MSTX_MARK_ACCESSES, /* of those in `reads` and `writes`: mstx_access_next() */
};

/* As in the records; the last one is not recorded. */
enum mstx_access { MSTX_READ = 1, MSTX_WRITE = 2, MSTX_OUTPUT = 4 };

struct mstx_mark {
    enum mstx_mark_kind kind;
    struct text name; /* of the operator */
    uint64_t address;
    uint64_t size_bytes;
    uint64_t access;          /* enum mstx_access */
    struct text dtype, shape; /* of the tensor; may be empty */
    struct text reads;
    struct text writes;
};

/* At most MT_TEXT_MAX bytes of a C string; NULL is empty. */
struct text mstx_text(const char *message);

struct mstx_mark mstx_mark_read(struct text message);

/* Takes the next access off the list. False at its end, or where it can no longer be read. */
bool mstx_access_next(struct text *list, uint64_t *address, uint64_t *size_bytes);

bool mstx_is_step(struct text message);

#endif
