/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the consumer itself writes into the trace of a process: samples, marks, clocks. It is one
 * more stream, in a ring of the consumer's own memory. One thread.
 */
#ifndef LEAKTIDE_TRACER_OWN_STREAM_H
#define LEAKTIDE_TRACER_OWN_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "leaktide/format.h"
#include "ring_drain.h"

enum { OWN_STREAM_WORDS = 8192, OWN_STREAM_TEXTS = 1024 };

struct own_stream {
    struct mt_ring_header header;
    uint64_t words[OWN_STREAM_WORDS];
    uint64_t known_texts[OWN_STREAM_TEXTS];
    uint32_t known_count;
};

/* Begins with who it is and the clocks. */
void own_stream_begin(struct own_stream *stream, uint32_t number);

/* At least a quarter of it is full. */
bool own_stream_is_ripe(const struct own_stream *stream);

void own_stream_sample(struct own_stream *stream, const char *counter, uint64_t value_bytes);
void own_stream_note(struct own_stream *stream, const char *subject, const char *text,
                     uint64_t first, uint64_t second);
void own_stream_mark(struct own_stream *stream, const char *name, const char *domain);
void own_stream_clocks(struct own_stream *stream);

#endif
