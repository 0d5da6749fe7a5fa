/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a .rings file that no chunk has taken -> events.
 *
 * Reads a piece of the ring at a time, so the size of the ring does not matter. If the process
 * still runs, words may be overwritten while we read: the head is looked at again after each piece,
 * and what may have been overwritten is not used.
 */
#ifndef LEAKTIDE_RING_READER_H
#define LEAKTIDE_RING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "trace_context.h"
#include "trace_record.h"

enum { RING_PIECE_WORDS = 4096 };

/* One slot of a .rings file. */
struct ring_slot {
    uint64_t offset_bytes; /* of its header */
    uint64_t capacity_words;
    uint64_t head, tail;
    uint32_t stream, thread_id;
};

/*
 * Reads the header of the slot at offset_bytes. False: there is none, or it makes no sense.
 * slot_bytes  how far the next slot is
 */
bool ring_slot_read(int descriptor, uint64_t offset_bytes, uint64_t file_bytes,
                    struct ring_slot *slot, uint64_t *slot_bytes);

struct ring_reader {
    int descriptor; /* borrowed */
    struct ring_slot slot;
    uint64_t position, end_position;
    uint64_t piece_begin, piece_end; /* positions of the words in piece */
    uint64_t start_ticks;
    unsigned time_shift;
    uint64_t last_time;   /* in time units */
    bool is_damaged;      /* looking for the next record */
    uint64_t overwritten; /* words that were lost to a process that still writes */
    uint64_t piece[RING_PIECE_WORDS];
};

/*
 * A slot that was made but not yet given its magic number when its process ended or became another
 * program: nothing was recorded in it.
 */
bool ring_slot_is_unused(int descriptor, uint64_t offset_bytes);

/* Begins at `position`, a place between records; ends at the slot's head. */
void ring_reader_begin(struct ring_reader *reader, int descriptor, const struct ring_slot *slot,
                       uint64_t position, const struct mt_file_header *header);

/* Fills events until they are full or the ring is read: then returns less than capacity. */
size_t ring_reader_next(struct ring_reader *reader, struct trace_context *context, uint32_t *thread,
                        struct event *events, size_t capacity);

/* When the first record happened, in time units; false: there is none. */
bool ring_reader_first_time(struct ring_reader *reader, uint64_t *time);

#endif
