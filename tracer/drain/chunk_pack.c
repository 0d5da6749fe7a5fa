/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a raw payload to the bytes of a chunk in the file.
 */
#include "chunk_pack.h"

#include <string.h>

#define XXH_INLINE_ALL
#define ZSTD_STATIC_LINKING_ONLY
#include <xxhash.h>
#include <zstd.h>

_Static_assert(sizeof(struct mt_chunk_header) == MT_CHUNK_HEADER_BYTES, "see format.h");

static uint64_t checksum_of(const struct mt_chunk_header *header, const uint8_t *payload)
{
    XXH64_state_t state;

    XXH64_reset(&state, 0);
    XXH64_update(&state, header, offsetof(struct mt_chunk_header, checksum));
    XXH64_update(&state, payload, header->payload_bytes);
    return XXH64_digest(&state);
}

size_t chunk_pack_workspace_bytes(void)
{
    ZSTD_compressionParameters parameters = ZSTD_getCParams(CHUNK_ZSTD_LEVEL, MT_CHUNK_RAW_MAX, 0);

    parameters.hashLog = CHUNK_ZSTD_HASH_LOG;
    parameters.minMatch = CHUNK_ZSTD_MIN_MATCH;
    return ZSTD_estimateCCtxSize_usingCParams(parameters);
}

/* Parameters stay with the context; setting them again costs next to nothing. */
static size_t compress(ZSTD_CCtx *zstd, enum chunk_effort effort, uint8_t *out, size_t out_bytes,
                       const uint8_t *raw, size_t raw_bytes)
{
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, CHUNK_ZSTD_LEVEL);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, CHUNK_ZSTD_HASH_LOG);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, CHUNK_ZSTD_MIN_MATCH);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_targetLength, (int)effort);
    return ZSTD_compress2(zstd, out, out_bytes, raw, raw_bytes);
}

size_t chunk_pack(struct mt_chunk_header *header, const uint8_t *raw, size_t raw_bytes,
                  enum chunk_effort effort, struct ZSTD_CCtx_s *zstd, uint8_t *out,
                  size_t out_bytes)
{
    uint8_t *payload = out + sizeof(*header);
    size_t payload_bytes, total_bytes, padded_bytes;

    if (out_bytes < sizeof(*header) || raw_bytes > UINT32_MAX)
        return 0;
    payload_bytes = compress(zstd, effort, payload, out_bytes - sizeof(*header), raw, raw_bytes);
    if (ZSTD_isError(payload_bytes) || payload_bytes > UINT32_MAX)
        return 0;
    total_bytes = sizeof(*header) + payload_bytes;
    padded_bytes = (total_bytes + 7) & ~(size_t)7;
    if (padded_bytes > out_bytes)
        return 0;
    header->magic = MT_CHUNK_MAGIC;
    header->header_bytes = sizeof(*header);
    header->payload_bytes = (uint32_t)payload_bytes;
    header->raw_bytes = (uint32_t)raw_bytes;
    header->checksum = checksum_of(header, payload);
    memcpy(out, header, sizeof(*header));
    memset(out + total_bytes, 0, padded_bytes - total_bytes);
    return padded_bytes;
}
