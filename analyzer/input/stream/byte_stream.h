/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file from front to back, whether it is plain, gzip or zstd.
 *
 * Offsets count unpacked bytes. A failure to read is remembered and looks like the end; ask
 * byte_stream_status() there. One thread at a time.
 */
#ifndef LEAKTIDE_INPUT_BYTE_STREAM_H
#define LEAKTIDE_INPUT_BYTE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"

enum { BYTE_STREAM_MOST = 1 << 20 }; /* what byte_stream_need() can promise in one piece */

struct byte_stream_reader;

struct byte_stream {
    const unsigned char *bytes; /* the next byte is bytes[position] */
    size_t position, end;
    uint64_t base_bytes; /* offset of bytes[0] */
    const char *path;    /* borrowed until byte_stream_close() */
    bool is_packed;
    bool is_line_open; /* the file ends in the line that was returned last */
    struct byte_stream_reader *reader;
};

enum mt_result byte_stream_open(struct byte_stream *stream, const char *path,
                                struct mt_error *error);
void byte_stream_close(struct byte_stream *stream);

/* Reads on until size_bytes (at most BYTE_STREAM_MOST) are there, or the end; returns what is. */
size_t byte_stream_fill(struct byte_stream *stream, size_t size_bytes);
/* MT_OK, or why the bytes ended early. */
enum mt_result byte_stream_status(const struct byte_stream *stream, struct mt_error *error);

/* The first bytes of a file, unpacked; 0 if it cannot be read. Leaves no stream behind. */
size_t byte_stream_begin(const char *path, unsigned char *bytes, size_t capacity_bytes);

static inline uint64_t byte_stream_offset(const struct byte_stream *stream)
{
    return stream->base_bytes + stream->position;
}

/* The next size_bytes in one piece, or NULL if there are not so many; they stay unread. */
static inline const unsigned char *byte_stream_need(struct byte_stream *stream, size_t size_bytes)
{
    if (stream->end - stream->position < size_bytes &&
        byte_stream_fill(stream, size_bytes) < size_bytes)
        return NULL;
    return stream->bytes + stream->position;
}

/* The same, read. */
static inline const unsigned char *byte_stream_take(struct byte_stream *stream, size_t size_bytes)
{
    const unsigned char *bytes = byte_stream_need(stream, size_bytes);

    if (bytes)
        stream->position += size_bytes;
    return bytes;
}

/*
 * The next line without its end (\n or \r\n), not terminated; NULL at the end of the file. A line
 * longer than BYTE_STREAM_MOST is a failure.
 */
const char *byte_stream_line(struct byte_stream *stream, size_t *size_bytes);

#endif
