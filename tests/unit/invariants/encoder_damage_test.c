/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the encoder of chunks, with its insides.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chunk_encoder.c"
#include "death.h"

static struct chunk_encoder *encoder;
static struct chunk_raw raw;

static void make(void)
{
    uint64_t words[8] = {0};

    encoder = calloc(1, sizeof(*encoder));
    chunk_encoder_init(encoder, 0, 0);
    chunk_encode(encoder, words, 8, 0, 0, &raw);
    encoder->columns_used[0] = 5;
    encoder->column_count = 1;
    encoder->blocks_used = 2;
    encoder->columns[5] = (struct column){encoder->blocks[1], encoder->blocks[1] + 1024, 0, 1, 0};
    chunk_encoder_check(encoder);
}

#define ENCODER(name, ...) DAMAGE(make, name, __VA_ARGS__; chunk_encoder_check(encoder))

ENCODER(encoder_blocks, encoder->blocks_used = COLUMN_BLOCKS + 1)
ENCODER(encoder_columns, encoder->column_count = MT_COLUMN_END + 1)
ENCODER(encoder_sites, encoder->predictor.site_count = MT_SITE_END)
ENCODER(encoder_made, encoder->predictor.made_count = MT_CHUNK_EVENTS_MAX + 1)
ENCODER(encoder_host_before, encoder->host_at[2] = encoder->host_bytes[2] - 1)
ENCODER(encoder_host_behind, encoder->host_at[2] = encoder->host_bytes[2] + HOST_COLUMN_BYTES + 1)
ENCODER(encoder_last_block, encoder->columns[5].last_block = 2)
ENCODER(encoder_first_block, encoder->columns[5].first_block = 2)
ENCODER(encoder_end, encoder->columns[5].end++)
ENCODER(encoder_at_before, encoder->columns[5].at--)
ENCODER(encoder_at_behind, encoder->columns[5].at += 1025)
ENCODER(encoder_dictionary, encoder->dictionary_of_column[5] = 0;
        encoder->dictionaries[0].count = MT_DICTIONARY_END + 1)
ENCODER(encoder_column_used, encoder->columns_used[0] = MT_COLUMN_END)
ENCODER(encoder_full_bytes, encoder->columns[5].full_bytes = 2049)
DAMAGE(make, encoder_capacity, uint64_t word = 0; chunk_encode(encoder, &word, 3, 0, 0, &raw))
DAMAGE(make, encoder_column, column_grow(encoder, MT_COLUMN_END))
DAMAGE(make, encoder_all_blocks, encoder->blocks_used = COLUMN_BLOCKS; column_grow(encoder, 5))
DAMAGE(make, encoder_column_at, encoder->columns[5].at = encoder->columns[5].end + 1;
       column_grow(encoder, 5))
DAMAGE(make, raw_size, raw.size_bytes = MT_CHUNK_RAW_MAX + 1; raw_check(&raw))
DAMAGE(make, raw_events, raw.event_count = MT_CHUNK_EVENTS_MAX + 1; raw_check(&raw))
DAMAGE(make, raw_times, raw.first_time = raw.last_time + 1; raw_check(&raw))

int main(void)
{
    return deaths_run();
}
