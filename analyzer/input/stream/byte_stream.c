/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file from front to back.
 *
 * A window of two times BYTE_STREAM_MOST: what is still unread moves to its front when more is
 * needed. zlib reads plain files as they are, so only zstd needs a way of its own.
 */
#include "byte_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "memory_failures.h"
#include "sentence.h"

enum { window_bytes = 2 * BYTE_STREAM_MOST, packed_bytes = 1 << 17, inflate_bytes = 1 << 17 };

struct byte_stream_reader {
    gzFile gzip;          /* plain files too */
    ZSTD_DStream *unpack; /* NULL: not zstd */
    int descriptor;       /* of a zstd file; else -1 */
    ZSTD_inBuffer packed;
    size_t frame_left; /* what zstd still expects of a frame: 0 between two */
    bool is_over;
    enum mt_result result;
    struct mt_error error;
    unsigned char packed_window[packed_bytes];
    unsigned char window[window_bytes];
};

static bool is_zstd(int descriptor)
{
    static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    unsigned char bytes[4];

    return pread(descriptor, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
           memcmp(bytes, magic, sizeof(magic)) == 0;
}

/* Noted, as whoever tries whether it can read this file takes any failure for a no. */
static enum mt_result say_no_memory(const struct byte_stream *stream, struct mt_error *error)
{
    memory_failure_note();
    return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", stream->path);
}

static enum mt_result reader_open(struct byte_stream *stream, int descriptor,
                                  struct mt_error *error)
{
    struct byte_stream_reader *reader = stream->reader;

    if (is_zstd(descriptor)) {
        reader->descriptor = descriptor;
        reader->unpack = ZSTD_createDStream();
        stream->is_packed = true;
        if (!reader->unpack)
            return say_no_memory(stream, error);
        return MT_OK;
    }
    reader->gzip = gzdopen(descriptor, "rb");
    if (!reader->gzip) {
        close(descriptor);
        return say_no_memory(stream, error);
    }
    gzbuffer(reader->gzip, inflate_bytes);
    errno = 0;
    stream->is_packed = !gzdirect(reader->gzip);
    if (errno == ENOMEM)
        memory_failure_note();
    return MT_OK;
}

enum mt_result byte_stream_open(struct byte_stream *stream, const char *path,
                                struct mt_error *error)
{
    struct byte_stream_reader *reader = calloc(1, sizeof(*reader));
    enum mt_result result;
    struct stat status;
    int descriptor;

    if (!reader)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    reader->descriptor = -1;
    *stream = (struct byte_stream){.path = path, .bytes = reader->window, .reader = reader};
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || S_ISDIR(status.st_mode)) {
        result =
            mt_error_set(error, MT_IO, "%s: %s", path, strerror(descriptor < 0 ? errno : EISDIR));
        if (descriptor >= 0)
            close(descriptor);
    } else {
        result = reader_open(stream, descriptor, error);
    }
    if (result != MT_OK)
        byte_stream_close(stream);
    return result;
}

void byte_stream_close(struct byte_stream *stream)
{
    struct byte_stream_reader *reader = stream->reader;

    stream->reader = NULL;
    if (!reader)
        return;
    if (reader->gzip)
        gzclose(reader->gzip);
    if (reader->descriptor >= 0)
        close(reader->descriptor);
    ZSTD_freeDStream(reader->unpack);
    free(reader);
}

static void reader_fail(struct byte_stream *stream, enum mt_result result, const char *why)
{
    struct byte_stream_reader *reader = stream->reader;

    reader->is_over = true;
    reader->result = mt_error_set(&reader->error, result, "%s: byte %" PRIu64 "%s: %s",
                                  stream->path, stream->base_bytes + stream->end,
                                  stream->is_packed ? " unpacked" : "", translated(why));
}

static size_t read_gzip(struct byte_stream *stream, unsigned char *bytes, size_t capacity_bytes)
{
    struct byte_stream_reader *reader = stream->reader;
    int got = gzread(reader->gzip, bytes, (unsigned)capacity_bytes);
    int trouble = Z_OK;
    const char *why = gzerror(reader->gzip, &trouble);

    if (got > 0 && (size_t)got == capacity_bytes)
        return (size_t)got;
    reader->is_over = true;
    if (trouble == Z_ERRNO)
        reader_fail(stream, MT_IO, strerror(errno));
    else if (trouble == Z_BUF_ERROR)
        reader_fail(stream, MT_CORRUPT, "the gzip file is cut short");
    else if (trouble == Z_MEM_ERROR)
        reader_fail(stream, MT_NO_MEMORY, "no memory");
    else if (trouble != Z_OK && trouble != Z_STREAM_END)
        reader_fail(stream, MT_CORRUPT, why);
    return got > 0 ? (size_t)got : 0;
}

/* Packed bytes for zstd; false at the end of the file. */
static bool read_packed(struct byte_stream *stream)
{
    struct byte_stream_reader *reader = stream->reader;
    ssize_t got;

    do
        got = read(reader->descriptor, reader->packed_window, sizeof(reader->packed_window));
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        reader_fail(stream, MT_IO, strerror(errno));
    } else if (got == 0) {
        reader->is_over = true;
        if (reader->frame_left)
            reader_fail(stream, MT_CORRUPT, "the zstd file is cut short");
    }
    reader->packed = (ZSTD_inBuffer){reader->packed_window, got > 0 ? (size_t)got : 0, 0};
    return got > 0;
}

static size_t read_zstd(struct byte_stream *stream, unsigned char *bytes, size_t capacity_bytes)
{
    struct byte_stream_reader *reader = stream->reader;
    ZSTD_outBuffer unpacked = {bytes, capacity_bytes, 0};

    while (unpacked.pos < unpacked.size) {
        size_t left;

        if (reader->packed.pos == reader->packed.size && !read_packed(stream))
            break;
        left = ZSTD_decompressStream(reader->unpack, &unpacked, &reader->packed);
        if (ZSTD_isError(left)) {
            reader_fail(stream, MT_CORRUPT, ZSTD_getErrorName(left));
            break;
        }
        reader->frame_left = left;
    }
    return unpacked.pos;
}

size_t byte_stream_fill(struct byte_stream *stream, size_t size_bytes)
{
    struct byte_stream_reader *reader = stream->reader;
    size_t left = stream->end - stream->position;

    if (left >= size_bytes || reader->is_over)
        return left;
    memmove(reader->window, reader->window + stream->position, left);
    stream->base_bytes += stream->position;
    stream->position = 0;
    stream->end = left;
    while (stream->end < size_bytes && !reader->is_over) {
        unsigned char *bytes = reader->window + stream->end;
        size_t capacity = window_bytes - stream->end;

        if (capacity > inflate_bytes * 4)
            capacity = inflate_bytes * 4;
        stream->end += reader->unpack ? read_zstd(stream, bytes, capacity)
                                      : read_gzip(stream, bytes, capacity);
    }
    return stream->end;
}

enum mt_result byte_stream_status(const struct byte_stream *stream, struct mt_error *error)
{
    if (stream->reader->result == MT_OK)
        return MT_OK;
    return mt_error_set(error, stream->reader->result, "%s", stream->reader->error.message);
}

size_t byte_stream_begin(const char *path, unsigned char *bytes, size_t capacity_bytes)
{
    struct byte_stream stream;
    size_t got;

    if (byte_stream_open(&stream, path, NULL) != MT_OK)
        return 0;
    got = byte_stream_fill(&stream, capacity_bytes);
    if (got > capacity_bytes)
        got = capacity_bytes;
    memcpy(bytes, stream.bytes, got);
    byte_stream_close(&stream);
    return got;
}

const char *byte_stream_line(struct byte_stream *stream, size_t *size_bytes)
{
    size_t left = stream->end - stream->position;
    const unsigned char *first = stream->bytes + stream->position;
    const unsigned char *end = left ? memchr(first, '\n', left) : NULL;
    size_t length;

    if (!end) {
        left = byte_stream_fill(stream, BYTE_STREAM_MOST);
        if (!left)
            return NULL;
        first = stream->bytes + stream->position;
        end = memchr(first, '\n', left);
        if (!end && left >= BYTE_STREAM_MOST) {
            stream->position = stream->end;
            reader_fail(stream, MT_CORRUPT, "a line of more than 1 MiB ends before this");
            return NULL;
        }
    }
    stream->is_line_open = !end;
    length = end ? (size_t)(end - first) : left;
    stream->position += end ? length + 1 : length;
    *size_bytes = length && first[length - 1] == '\r' ? length - 1 : length;
    return (const char *)first;
}
