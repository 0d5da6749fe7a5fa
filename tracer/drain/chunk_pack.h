/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a raw payload to the bytes of a chunk in the file: compressed, checksummed, padded.
 *
 * Shared by whoever writes chunks: the tracer and the builder of test traces.
 */
#ifndef LEAKTIDE_TRACER_CHUNK_PACK_H
#define LEAKTIDE_TRACER_CHUNK_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "leaktide/format.h"

struct ZSTD_CCtx_s;

/*
 * Level 1 with a smaller table and longer matches: columns have few matches of four bytes, and to
 * look for them is most of what level 1 does. A target length makes zstd look at fewer places and
 * leave what it does not find as it is. Measured in docs/trace-format.md.
 */
enum { CHUNK_ZSTD_LEVEL = 1, CHUNK_ZSTD_HASH_LOG = 11, CHUNK_ZSTD_MIN_MATCH = 7 };

/* The value is zstd's target length. */
enum chunk_effort {
    CHUNK_SMALL = 0,
    CHUNK_QUICK = 4 /* less than half of the time, a quarter to a half more bytes */
};

/* Bytes of workspace for ZSTD_initStaticCCtx() of a context that chunk_pack() can use. */
size_t chunk_pack_workspace_bytes(void);

/* Room that chunk_pack needs for so many raw bytes; a constant for arrays. */
#define CHUNK_PACKED_BYTES(raw_bytes)                                                              \
    (MT_CHUNK_HEADER_BYTES + (raw_bytes) + ((raw_bytes) >> 8) + 1024 + 8)

/*
 * Writes header and payload to out, zeros up to a multiple of 8 after them, and returns how many
 * bytes that is; 0 when it does not fit or zstd has no memory.
 *
 * header  kind, stream, event_count, positions and times are the caller's; the rest is set here
 */
size_t chunk_pack(struct mt_chunk_header *header, const uint8_t *raw, size_t raw_bytes,
                  enum chunk_effort effort, struct ZSTD_CCtx_s *zstd, uint8_t *out,
                  size_t out_bytes);

#endif
