/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record of a trace, whether it comes from a chunk or from a ring, and what it means.
 */
#ifndef LEAKTIDE_TRACE_RECORD_H
#define LEAKTIDE_TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "leaktide/columns.h"
#include "trace_context.h"

struct trace_field {
    uint64_t value;
    /* Where the model's index of this value is kept, TRACE_UNRESOLVED at first. */
    uint32_t *index;
};

struct trace_record {
    unsigned code;
    uint64_t time_ns;
    struct trace_field fields[MT_FIELDS_MAX];
    const uint8_t *bytes; /* of the BYTES field, if it has one */
    size_t size_bytes;
};

/*
 * Writes the event that the record is, and returns true; or takes the record into the model, if it
 * is a definition, and returns false.
 *
 * thread  of the stream; a `thread` record changes it
 */
bool trace_record_apply(struct trace_context *context, uint32_t *thread,
                        const struct trace_record *record, struct event *event);

/* The same of a `stack` record, which has its fields and bytes and is no event. */
void trace_record_stack(struct trace_context *context, const struct trace_record *record);

#endif
