/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All events of one process image, in time order.
 *
 * Each stream is a list of segments: its chunks, then what is left in its ring. A heap holds the
 * streams by the time of their next event; a stream that is alone, or far ahead of the others, is
 * decoded straight into the caller's batch.
 */
#ifndef LEAKTIDE_TRACE_PROCESS_H
#define LEAKTIDE_TRACE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "error_sentence.h"
#include "event.h"
#include "mtt_file.h"
#include "trace_context.h"

struct trace_stream;
struct spare_decoder;

/* Keys stand in the heap itself, so that ordering does not touch the streams. */
struct heap_entry {
    uint64_t key;
    struct trace_stream *stream;
};

struct trace_process {
    struct mtt_file file;
    struct trace_context context;
    struct chunk_loader *loader; /* borrowed */
    struct trace_stream *streams;
    size_t stream_count;
    struct heap_entry *heap; /* smallest key first; streams that are over are not in it */
    size_t heap_count;
    struct spare_decoder *spare_decoders;
    uint64_t damaged_events; /* of chunks that could not be read to their end */
    struct mt_error first_damage;
};

/*
 * Opens the file at path again and finds its chunks. `context` is copied.
 * A zeroed struct may be closed, too.
 */
enum mt_result trace_process_open(struct trace_process *process, const char *path,
                                  const struct trace_context *context, struct chunk_loader *loader,
                                  struct mt_error *error);

/* *count 0 is the end. Damage is noted in the model and passed over. MT_NO_MEMORY. */
enum mt_result trace_process_next(struct trace_process *process, struct event *batch,
                                  size_t capacity, size_t *count, struct mt_error *error);

/* Puts what was learnt on the way into the model's row of the process. */
void trace_process_summarize(struct trace_process *process);
void trace_process_close(struct trace_process *process);

#endif
