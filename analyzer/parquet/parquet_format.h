/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of Apache Parquet that are used here.
 *
 *   "PAR1"  row groups: for each column a chunk of pages  footer  size of the footer (4)  "PAR1"
 *
 * A page is a header, then, compressed together, for an optional column which values are there
 * (runs, parquet_runs.h, after their size in 4 bytes), and the values. All is little-endian.
 * Source: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
 */
#ifndef LEAKTIDE_PARQUET_FORMAT_H
#define LEAKTIDE_PARQUET_FORMAT_H

#include <stdint.h>
#include <string.h>

#define PARQUET_MAGIC "PAR1"

enum { PARQUET_MAGIC_BYTES = 4, PARQUET_END_BYTES = 8 };
enum { PARQUET_TYPE_INT64 = 2, PARQUET_TYPE_BYTE_ARRAY = 6 };
enum { PARQUET_REQUIRED, PARQUET_OPTIONAL };
enum {
    PARQUET_PLAIN = 0,
    PARQUET_PLAIN_DICTIONARY = 2,
    PARQUET_RLE = 3,
    PARQUET_RLE_DICTIONARY = 8
};
enum { PARQUET_UNCOMPRESSED = 0, PARQUET_ZSTD = 6 };
enum { PARQUET_DATA_PAGE = 0, PARQUET_DICTIONARY_PAGE = 2 };
enum { PARQUET_UTF8 = 0 };

/* Bounds of what is read. */
enum {
    PARQUET_GROUP_ROWS_MOST = 1 << 21,
    PARQUET_PAGE_BYTES_MOST = 1 << 26,
    PARQUET_CHUNK_BYTES_MOST = 1 << 28,
    PARQUET_ROWS_IN_BYTE_MOST = 1024 /* of the file, in the mean */
};

static inline uint32_t parquet_get_u32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static inline void parquet_put_u32(unsigned char *bytes, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
}

static inline int64_t parquet_get_i64(const unsigned char *bytes)
{
    return (int64_t)((uint64_t)parquet_get_u32(bytes) | (uint64_t)parquet_get_u32(bytes + 4) << 32);
}

static inline void parquet_put_i64(unsigned char *bytes, int64_t number)
{
    parquet_put_u32(bytes, (uint32_t)(uint64_t)number);
    parquet_put_u32(bytes + 4, (uint32_t)((uint64_t)number >> 32));
}

#endif
