/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the words of a ring to the raw payload of a chunk, as described in leaktide/columns.h.
 *
 * All memory is the caller's: an encoder is a struct of about 3 MiB, of which a chunk touches what
 * it needs, about 0.5. Nothing here allocates, locks or calls the C library beyond memory copies,
 * so it may run inside a hook. One thread at a time uses an encoder; the result depends on the
 * words alone, so every chunk reads back without the others.
 */
#ifndef LEAKTIDE_TRACER_CHUNK_ENCODER_H
#define LEAKTIDE_TRACER_CHUNK_ENCODER_H

#include <stddef.h>
#include <stdint.h>

#include "leaktide/columns.h"
#include "leaktide/format.h"

enum {
    COLUMN_BLOCK_BYTES = 1024,
    COLUMN_BLOCKS = (MT_CHUNK_RAW_MAX - MT_COLUMN_TABLE_MAX) / COLUMN_BLOCK_BYTES,
    ENCODER_DICTIONARIES = 40, /* columns with a dictionary, at most */
    ENCODER_DICTIONARY_SLOTS = 2 * MT_DICTIONARY_END,
    ENCODER_SITE_SLOTS = 2 * MT_SITE_END,
    ENCODER_BLOCK_SLOTS = 2 * MT_CHUNK_EVENTS_MAX,
    ENCODER_RUN_EVENTS = 180, /* records of the host heap and of other pools at once */

    /* A varint may be written over its end; the rest keeps columns off the same lines of a cache.
     */
    HOST_COLUMN_BYTES = MT_CHUNK_RAW_MAX + 1088
};

/* The columns of which host_alloc and host_free are made. */
enum host_column {
    HOST_CODE,
    HOST_TIME,
    HOST_SITE,
    HOST_SIZE,
    HOST_NEW_ADDRESS,
    HOST_OLD_ADDRESS,
    HOST_COLUMNS
};

struct column {
    uint8_t *at, *end;                /* room in its last block */
    uint16_t first_block, last_block; /* a list through column_next */
    uint32_t full_bytes;              /* in the blocks before the last */
};

struct dictionary {
    uint32_t count;
    uint64_t value[MT_DICTIONARY_END];
    uint16_t slot[ENCODER_DICTIONARY_SLOTS]; /* number by hash; 0 is free */
};

/* The value that a column had last, and its number in the dictionary; number 0: none is known. */
struct known_number {
    uint64_t value;
    unsigned number;
};

enum known_column { KNOWN_POOL_OF_ALLOC, KNOWN_PLACE_OF_ALLOC, KNOWN_POOL_OF_FREE, KNOWN_COLUMNS };

struct chunk_encoder {
    unsigned time_shift;
    uint64_t start_ticks;

    uint8_t *host_at[HOST_COLUMNS]; /* where to go on */

    unsigned blocks_used;
    unsigned column_count;
    uint16_t columns_used[MT_COLUMN_END];
    uint8_t dictionary_of_column[MT_COLUMN_END];
    struct column columns[MT_COLUMN_END];
    uint64_t last_value[MT_COLUMN_END];
    struct known_number known_numbers[KNOWN_COLUMNS];
    uint16_t block_next[COLUMN_BLOCKS];
    uint16_t block_bytes[COLUMN_BLOCKS];

    struct mt_predictor predictor;
    uint16_t site_slot[ENCODER_SITE_SLOTS];   /* site number by hash; 0 is free */
    uint16_t block_slot[ENCODER_BLOCK_SLOTS]; /* number of made block by hash of its address */
    struct dictionary dictionaries[ENCODER_DICTIONARIES];
    uint8_t host_bytes[HOST_COLUMNS][HOST_COLUMN_BYTES];
    uint8_t blocks[COLUMN_BLOCKS][COLUMN_BLOCK_BYTES];
    uint8_t raw[MT_CHUNK_RAW_MAX];
};

/* The payload borrows the encoder's memory until the next chunk_encode(). */
struct chunk_raw {
    const uint8_t *bytes;
    size_t size_bytes;
    uint64_t end_position; /* how far the words were taken */
    uint32_t event_count;
    uint32_t malformed_count; /* places where words were no record and had to be passed over */
    uint64_t first_time;      /* in time units since start_ticks */
    uint64_t last_time;
};

void chunk_encoder_init(struct chunk_encoder *encoder, unsigned time_shift, uint64_t start_ticks);

/* Asserts that columns are inside their blocks, and all of them inside a chunk. */
void chunk_encoder_check(const struct chunk_encoder *encoder);

/*
 * Takes records from begin_position until end_position, or until the chunk is full. Both are
 * positions between records; capacity_words is a power of two. Returns the number of events, which
 * is 0 only if there was no record at all.
 */
size_t chunk_encode(struct chunk_encoder *encoder, const uint64_t *ring_words,
                    uint64_t capacity_words, uint64_t begin_position, uint64_t end_position,
                    struct chunk_raw *out);

#endif
