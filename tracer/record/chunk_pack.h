/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a raw payload to the bytes of a chunk in the file: compressed, checksummed, padded.
 *
 * Shared by whoever writes chunks: the tracer and the builder of test traces.
 */
#ifndef MEMTIDE_TRACER_CHUNK_PACK_H
#define MEMTIDE_TRACER_CHUNK_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "memtide/format.h"

struct ZSTD_CCtx_s;

enum { CHUNK_ZSTD_LEVEL = 1 };

/* Room that chunk_pack needs for so many raw bytes; a constant for arrays. */
#define CHUNK_PACKED_BYTES(raw_bytes)                                                              \
    (MT_CHUNK_HEADER_BYTES + (raw_bytes) + ((raw_bytes) >> 8) + 1024 + 8)

/*
 * Writes header and payload to out, zeros up to a multiple of 8 behind them, and returns how many
 * bytes that is; 0 when it does not fit or zstd has no memory.
 *
 * header  kind, stream, event_count, positions and times are the caller's; the rest is set here
 */
size_t chunk_pack(struct mt_chunk_header *header, const uint8_t *raw, size_t raw_bytes,
                  struct ZSTD_CCtx_s *zstd, uint8_t *out, size_t out_bytes);

#endif
