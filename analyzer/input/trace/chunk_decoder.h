/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw payload of a chunk -> events, a few at a time.
 *
 * A decoder is the mirror of tracer/record/chunk_encoder.c and keeps the same predictor. It is a
 * large struct of which a chunk touches what it needs, so it is best taken from malloc unset.
 * Sites are looked up a few at a time, in the order of the events, as each may be a cache miss.
 * Invariant: a cursor never passes the end of its column.
 */
#ifndef LEAKTIDE_CHUNK_DECODER_H
#define LEAKTIDE_CHUNK_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"
#include "event.h"
#include "leaktide/columns.h"
#include "trace_context.h"
#include "trace_record.h"

enum { DECODER_DICTIONARIES = 40, DECODER_PADDING_BYTES = 16, DECODER_UNRESOLVED = 32 };

struct column_cursor {
    const uint8_t *at, *end;
};

struct decoder_dictionary {
    uint32_t count;
    uint64_t value[MT_DICTIONARY_END];
    uint32_t index[MT_DICTIONARY_END]; /* of the model, or TRACE_UNRESOLVED */
};

/* An event whose site is still to be looked up; where that may be found was asked for. */
struct decoder_unresolved {
    struct event *event;
    uint64_t site;
    uint32_t number; /* of the predictor; 0: none */
};

struct chunk_decoder {
    uint32_t events_left;
    uint32_t site_epoch;      /* of the context, when site_index was last emptied */
    uint64_t time, last_time; /* in time units */
    struct event blank;       /* an alloc of the host heap without what makes it this one */
    struct column_cursor columns[MT_COLUMN_END];
    uint64_t last_value[MT_COLUMN_END];
    uint8_t dictionary_of_column[MT_COLUMN_END];
    bool is_known_column[MT_COLUMN_END];
    struct mt_predictor predictor;
    uint32_t site_index[MT_SITE_END]; /* of the model, or TRACE_UNRESOLVED */
    size_t unresolved_count;
    struct decoder_unresolved unresolved[DECODER_UNRESOLVED];
    struct decoder_dictionary dictionaries[DECODER_DICTIONARIES];
    uint8_t raw[MT_CHUNK_RAW_MAX + DECODER_PADDING_BYTES];
};

/* Once for the memory of a decoder. */
void chunk_decoder_init(struct chunk_decoder *decoder);

/*
 * Begins the chunk whose raw payload the caller put into decoder->raw. MT_CORRUPT when the table
 * of columns is wrong; the message does not know the file.
 */
enum mt_result chunk_decoder_begin(struct chunk_decoder *decoder, struct trace_context *context,
                                   const struct mt_chunk_header *header, struct mt_error *error);

/*
 * Decodes until `capacity` events are written or the chunk is over: then *count < capacity, and
 * maybe 0. MT_CORRUPT when a value is cut short or impossible; the events written are before it.
 */
enum mt_result chunk_decoder_next(struct chunk_decoder *decoder, struct trace_context *context,
                                  uint32_t *thread, struct event *events, size_t capacity,
                                  size_t *count, struct mt_error *error);

#endif
