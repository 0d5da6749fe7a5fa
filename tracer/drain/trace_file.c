/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "trace_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "file_room.h"
#include "leaktide/invariant.h"
#include "private_heap.h"

enum { CHUNK_ALIGNMENT = 8, VERIFIED_BYTES = 64 << 20 };

bool trace_file_name(char *path, size_t path_bytes, const char *folder,
                     const struct mt_file_header *header, const char *ending)
{
    int length = snprintf(path, path_bytes, "%s/" MT_FILE_NAME "%s", folder, header->process_id,
                          header->start_realtime_ns, ending);

    return length > 0 && (size_t)length < path_bytes;
}

static bool header_map(struct trace_file *trace)
{
    int descriptor = trace->file.descriptor, kind;
    void *header;

    trace->header_is_apart = !file_room_is_kept(descriptor);
    if (posix_fallocate(descriptor, 0, MT_FILE_HEADER_BYTES) != 0)
        return false;
    kind = trace->header_is_apart ? MAP_PRIVATE : MAP_SHARED;
    header = mmap(NULL, MT_FILE_HEADER_BYTES, PROT_READ | PROT_WRITE, kind, descriptor, 0);
    trace->header = header == MAP_FAILED ? NULL : header;
    return trace->header;
}

void trace_file_tell(struct trace_file *trace)
{
    if (trace->header_is_apart)
        (void)!pwrite(own_file_descriptor(&trace->file), trace->header, MT_FILE_HEADER_BYTES, 0);
}

static uint64_t size_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

static bool begin(struct trace_file *trace, const char *path)
{
    *trace = (struct trace_file){
        .file = OWN_FILE_CLOSED, .size_limit_bytes = size_limit(), .heartbeat = trace->heartbeat};
    snprintf(trace->file.path, sizeof(trace->file.path), "%s", path);
    return strlen(path) < sizeof(trace->file.path) &&
           trace->size_limit_bytes >= MT_FILE_HEADER_BYTES;
}

bool trace_file_create(struct trace_file *trace, const char *path,
                       const struct mt_file_header *described)
{
    if (!begin(trace, path) || !own_file_create(&trace->file))
        return false;
    if (!header_map(trace)) {
        own_file_remove(&trace->file);
        return false;
    }
    memcpy(trace->header, described, sizeof(*described));
    trace_file_tell(trace);
    return true;
}

uint64_t trace_file_append(struct trace_file *trace, const void *bytes, size_t size_bytes)
{
    static const char nothing[CHUNK_ALIGNMENT];
    size_t padded_bytes = (size_bytes + CHUNK_ALIGNMENT - 1) / CHUNK_ALIGNMENT * CHUNK_ALIGNMENT;
    uint64_t offset;
    int descriptor = own_file_descriptor(&trace->file);

    MT_ASSERT(size_bytes);
    if (descriptor < 0)
        return 0;
    offset = __atomic_fetch_add(&trace->header->end_offset_bytes, padded_bytes, __ATOMIC_RELAXED);
    if (offset + padded_bytes <= trace->size_limit_bytes &&
        own_file_write(descriptor, bytes, size_bytes, offset)) {
        trace_file_tell(trace);
        return offset;
    }
    /* Half a chunk is no chunk: take its name away if it has one already. */
    if (offset + sizeof(nothing) <= trace->size_limit_bytes)
        (void)!pwrite(descriptor, nothing, sizeof(nothing), (off_t)offset);
    return 0;
}

static void beat(const struct trace_file *trace)
{
    if (trace->heartbeat)
        __atomic_fetch_add(trace->heartbeat, 1, __ATOMIC_RELAXED);
}

static uint64_t chunk_bytes(const struct mt_chunk_header *header)
{
    return (header->header_bytes + (uint64_t)header->payload_bytes + CHUNK_ALIGNMENT - 1) /
           CHUNK_ALIGNMENT * CHUNK_ALIGNMENT;
}

/* The headers of all chunks, read back from the file: nothing had to be remembered. */
static struct mt_index_entry *index_read(const struct trace_file *trace, int descriptor,
                                         size_t *count)
{
    struct mt_index_entry *entries = NULL;
    uint64_t end = trace->header->end_offset_bytes;
    size_t capacity = 0;
    uint64_t offset = MT_FILE_HEADER_BYTES;

    *count = 0;
    while (offset + MT_CHUNK_HEADER_BYTES <= end) {
        struct mt_index_entry entry = {.offset_bytes = offset};

        beat(trace);
        if (pread(descriptor, &entry.header, sizeof(entry.header), (off_t)offset) !=
                (ssize_t)sizeof(entry.header) ||
            entry.header.magic != MT_CHUNK_MAGIC)
            break; /* a chunk that could not be written: readers scan */
        if (*count == capacity) {
            struct mt_index_entry *more;

            capacity = capacity ? 2 * capacity : 64;
            more = mt_je_realloc(entries, capacity * sizeof(*entries));
            if (!more)
                break;
            entries = more;
        }
        entries[(*count)++] = entry;
        offset += chunk_bytes(&entry.header);
    }
    if (offset != end) {
        mt_je_free(entries);
        return NULL;
    }
    return entries;
}

static void index_write(struct trace_file *trace, const struct mt_index_entry *entries,
                        size_t count)
{
    size_t payload_bytes = count * sizeof(*entries);
    size_t size_bytes = sizeof(struct mt_chunk_header) + payload_bytes;
    struct mt_chunk_header *header = mt_je_calloc(1, size_bytes);
    XXH64_state_t state;

    if (!header)
        return;
    header->magic = MT_CHUNK_MAGIC;
    header->kind = MT_CHUNK_INDEX;
    header->header_bytes = MT_CHUNK_HEADER_BYTES;
    header->payload_bytes = header->raw_bytes = (uint32_t)payload_bytes;
    memcpy(header + 1, entries, payload_bytes);
    XXH64_reset(&state, 0);
    XXH64_update(&state, header, offsetof(struct mt_chunk_header, checksum));
    XXH64_update(&state, header + 1, payload_bytes);
    header->checksum = XXH64_digest(&state);
    trace->header->index_offset_bytes = trace_file_append(trace, header, size_bytes);
    mt_je_free(header);
}

/* --- after a writer was killed ------------------------------------------------------------- */

/* Checksum of a header and of what stands after it in the file. */
static bool checksum_read(int descriptor, uint64_t offset, const struct mt_chunk_header *header,
                          uint64_t *checksum)
{
    uint8_t piece[4096];
    uint64_t at = offset + header->header_bytes, left = header->payload_bytes;
    XXH64_state_t state;

    XXH64_reset(&state, 0);
    XXH64_update(&state, header, offsetof(struct mt_chunk_header, checksum));
    while (left) {
        size_t part = left < sizeof(piece) ? (size_t)left : sizeof(piece);

        if (pread(descriptor, piece, part, (off_t)at) != (ssize_t)part)
            return false;
        XXH64_update(&state, piece, part);
        at += part;
        left -= part;
    }
    *checksum = XXH64_digest(&state);
    return true;
}

static bool resumed_note(struct trace_file *trace, uint32_t stream, uint64_t end_position)
{
    struct resumed_stream *more;

    for (uint32_t i = 0; i < trace->resumed_count; i++)
        if (trace->resumed[i].stream == stream) {
            if (trace->resumed[i].end_position < end_position)
                trace->resumed[i].end_position = end_position;
            return true;
        }
    more = mt_je_realloc(trace->resumed, (trace->resumed_count + 1) * sizeof(*more));
    if (!more)
        return false;
    trace->resumed = more;
    more[trace->resumed_count++] = (struct resumed_stream){stream, end_position};
    return true;
}

uint64_t trace_file_resumed_at(const struct trace_file *trace, uint32_t stream)
{
    for (uint32_t i = 0; i < trace->resumed_count; i++)
        if (trace->resumed[i].stream == stream)
            return trace->resumed[i].end_position;
    return 0;
}

/* The end of the whole chunk that stands there, which is noted; 0: none does. */
static uint64_t whole_chunk_end(struct trace_file *trace, uint64_t offset, uint64_t end)
{
    int descriptor = trace->file.descriptor;
    struct mt_chunk_header header;
    uint64_t checksum;

    beat(trace);
    if (offset + sizeof(header) > end ||
        pread(descriptor, &header, sizeof(header), (off_t)offset) != (ssize_t)sizeof(header) ||
        header.magic != MT_CHUNK_MAGIC || header.header_bytes != MT_CHUNK_HEADER_BYTES ||
        chunk_bytes(&header) > end - offset)
        return 0;
    /* Who was killed had begun a few chunks at most; the file may be large. */
    if (end - offset <= VERIFIED_BYTES &&
        (!checksum_read(descriptor, offset, &header, &checksum) || checksum != header.checksum))
        return 0;
    if (header.kind == MT_CHUNK_EVENTS)
        resumed_note(trace, header.stream, header.end_position);
    return offset + chunk_bytes(&header);
}

/* What a chunk has for a hole: readers pass over an index that the header does not name. */
static bool hole_fill(int descriptor, uint64_t offset, uint64_t next)
{
    struct mt_chunk_header header = {
        .magic = MT_CHUNK_MAGIC,
        .kind = MT_CHUNK_INDEX,
        .header_bytes = MT_CHUNK_HEADER_BYTES,
        .payload_bytes = (uint32_t)(next - offset - MT_CHUNK_HEADER_BYTES),
    };

    return next - offset >= MT_CHUNK_HEADER_BYTES && next - offset <= UINT32_MAX &&
           checksum_read(descriptor, offset, &header, &header.checksum) &&
           own_file_write(descriptor, &header, sizeof(header), offset);
}

/*
 * Room that was reserved and not written: at the end it is taken back, in between it is filled. Its
 * words are still in their rings.
 */
static void holes_mend(struct trace_file *trace)
{
    int descriptor = trace->file.descriptor;
    uint64_t end = trace->header->end_offset_bytes, offset = MT_FILE_HEADER_BYTES, next;

    while (offset < end) {
        uint64_t hole = offset;

        for (next = whole_chunk_end(trace, offset, end); !next && offset < end;
             next = whole_chunk_end(trace, offset, end))
            offset += CHUNK_ALIGNMENT;
        if (!next) {
            trace->header->end_offset_bytes = hole;
            return;
        }
        if (offset > hole && !hole_fill(descriptor, hole, offset))
            return;
        offset = next;
    }
}

/* Who made the file was killed before it could describe it; there is nothing else in it, then. */
static void header_describe_again(struct trace_file *trace, const struct mt_file_header *described)
{
    struct stat status;

    if (fstat(trace->file.descriptor, &status) == 0 && status.st_size == MT_FILE_HEADER_BYTES)
        memcpy(trace->header, described, sizeof(*described));
}

static bool is_described(const struct mt_file_header *header)
{
    return memcmp(header->magic, MT_FILE_MAGIC, sizeof(header->magic)) == 0 &&
           header->checksum == XXH64(header, offsetof(struct mt_file_header, checksum), 0) &&
           header->end_offset_bytes >= MT_FILE_HEADER_BYTES;
}

bool trace_file_resume(struct trace_file *trace, const char *path,
                       const struct mt_file_header *described)
{
    if (!begin(trace, path) || !own_file_open(&trace->file))
        return false;
    if (header_map(trace) && !is_described(trace->header))
        header_describe_again(trace, described);
    if (trace->header && is_described(trace->header)) {
        holes_mend(trace);
        trace_file_tell(trace);
        return true;
    }
    trace_file_close(trace);
    return false;
}

void trace_file_finish(struct trace_file *trace)
{
    int descriptor = own_file_descriptor(&trace->file);
    size_t count = 0;

    if (descriptor >= 0 && trace->header->end_offset_bytes <= UINT32_MAX * UINT64_C(256)) {
        struct mt_index_entry *entries = index_read(trace, descriptor, &count);

        if (entries && count)
            index_write(trace, entries, count);
        mt_je_free(entries);
    }
    __atomic_store_n(&trace->header->state, MT_FILE_CLOSED, __ATOMIC_RELEASE);
    trace_file_tell(trace);
}

void trace_file_close(struct trace_file *trace)
{
    if (trace->header)
        munmap(trace->header, MT_FILE_HEADER_BYTES);
    trace->header = NULL;
    mt_je_free(trace->resumed);
    trace->resumed = NULL;
    trace->resumed_count = 0;
    own_file_close(&trace->file);
}
