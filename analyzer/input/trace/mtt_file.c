/* SPDX-License-Identifier: Apache-2.0 */
#include "mtt_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "list.h"
#include "path_text.h"
#include "sentence.h"

enum {
    CHUNK_ALIGNMENT = 8,
    CHUNK_HEADER_MAX = 65536,
    EVENTS_PAYLOAD_MAX = 2 * MT_CHUNK_RAW_MAX,
    SCAN_PIECE_BYTES = 65536,
    TIME_UNITS_BITS = 56,
    /* Bytes that look like chunks but are not may be looked at so often, then a scan ends. */
    SCAN_PATIENCE = 16
};

/* Reads up to size_bytes; less only at the end of the file. -1: errno tells. */
static ssize_t read_at(int descriptor, void *out, size_t size_bytes, uint64_t offset_bytes)
{
    size_t done = 0;

    while (done < size_bytes) {
        ssize_t part = pread(descriptor, (uint8_t *)out + done, size_bytes - done,
                             (off_t)(offset_bytes + done));

        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return -1;
        if (part == 0)
            break;
        done += (size_t)part;
    }
    return (ssize_t)done;
}

static bool read_exactly(int descriptor, void *out, size_t size_bytes, uint64_t offset_bytes)
{
    return read_at(descriptor, out, size_bytes, offset_bytes) == (ssize_t)size_bytes;
}

/* --- the header ---------------------------------------------------------------------------- */

static enum mt_result header_check(const struct mtt_file *file, struct mt_error *error)
{
    const struct mt_file_header *h = &file->header;

    if (memcmp(h->magic, MT_FILE_MAGIC, sizeof(h->magic)) != 0)
        return mt_error_set(error, MT_CORRUPT, "%s: not a leaktide trace", file->path);
    if (h->major > MT_FORMAT_MAJOR)
        return mt_error_set(error, MT_UNSUPPORTED,
                            "%s: written by trace format %u; this leaktide reads up to %u",
                            file->path, h->major, MT_FORMAT_MAJOR);
    if (h->checksum != XXH64(h, offsetof(struct mt_file_header, checksum), 0) ||
        h->header_bytes < sizeof(*h) || h->header_bytes % CHUNK_ALIGNMENT || h->time_shift > 31)
        return mt_error_set(error, MT_CORRUPT, "%s: the header is damaged", file->path);
    return MT_OK;
}

static enum mt_result header_read(struct mtt_file *file, struct mt_error *error)
{
    struct stat status;
    ssize_t got;

    if (fstat(file->descriptor, &status) != 0)
        return mt_error_set(error, MT_IO, "%s: %s", file->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return mt_error_set(error, MT_CORRUPT, "%s: not a regular file", file->path);
    file->size_bytes = (uint64_t)status.st_size;
    got = read_at(file->descriptor, &file->header, sizeof(file->header), 0);
    if (got < 0)
        return mt_error_set(error, MT_IO, "%s: %s", file->path, strerror(errno));
    if ((size_t)got < sizeof(file->header) || file->size_bytes < MT_FILE_HEADER_BYTES)
        return mt_error_set(error, MT_CORRUPT,
                            "%s: too short for a leaktide trace: %" PRIu64 " bytes", file->path,
                            file->size_bytes);
    return header_check(file, error);
}

/* The .rings beside the .mtt, if there is one. */
static int open_rings(const char *path)
{
    size_t length = strlen(path);
    char *rings;
    int descriptor;

    if (length < 4 || strcmp(path + length - 4, ".mtt") != 0)
        return -1;
    rings = malloc(length + 3);
    if (!rings)
        return -1;
    memcpy(rings, path, length - 4);
    memcpy(rings + length - 4, ".rings", 7);
    descriptor = open(rings, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    free(rings);
    return descriptor;
}

/* What a process counted in its place, where no consumer has copied it. */
static void header_refresh(struct mt_file_header *header, const struct mt_rings_process *place)
{
    for (size_t i = 0; i < MT_LOST_KINDS; i++)
        header->lost_counts[i] = place->header.lost_counts[i] + place->consumer_lost_counts[i];
    header->step_count = place->header.step_count;
    header->no_stack_count = place->header.no_stack_count;
    header->stack_restart_count = place->header.stack_restart_count;
    header->unread_python = place->header.unread_python;
    header->unseen_python = place->header.unseen_python;
    header->told_steps = place->header.told_steps;
    header->address_limit_bytes = place->header.address_limit_bytes;
    header->data_limit_bytes = place->header.data_limit_bytes;
    header->machine_bytes = place->header.machine_bytes;
}

/* Rings of its own, or those that it has in the file of the run. */
static void find_rings(struct mtt_file *file)
{
    struct mt_rings_process place;

    file->rings_descriptor = open_rings(file->path);
    if (file->rings_descriptor >= 0 || !run_rings_open(&file->run_rings, file->path, false))
        return;
    file->place = run_rings_find(&file->run_rings, &file->header);
    if (file->place >= 0 && run_rings_process(&file->run_rings, (uint32_t)file->place, &place)) {
        header_refresh(&file->header, &place);
        file->rings_descriptor = file->run_rings.descriptor;
    } else {
        run_rings_close(&file->run_rings);
    }
}

/* The place of a process whose trace was never made: "<pid>-<start>.mtt" in the file of the run. */
static enum mt_result open_without_trace(struct mtt_file *file, struct mt_error *error)
{
    const char *name = path_base(file->path);
    struct mt_rings_process place;
    char expected[64];

    if (!run_rings_open(&file->run_rings, file->path, false))
        return MT_NOT_FOUND;
    for (uint32_t i = 0; i < file->run_rings.header.processes_end; i++) {
        if (!run_rings_process(&file->run_rings, i, &place))
            continue;
        mtt_file_name(expected, sizeof(expected), &place.header);
        if (strcmp(expected, name) != 0)
            continue;
        file->header = place.header; /* nothing of a file that was begun counts */
        file->size_bytes = 0;
        header_refresh(&file->header, &place);
        file->place = i;
        file->rings_descriptor = file->run_rings.descriptor;
        return header_check(file, error);
    }
    return MT_NOT_FOUND;
}

/* The consumer was killed between making the file and describing it. corrupt: what it is otherwise.
 */
static enum mt_result open_begun_trace(struct mtt_file *file, enum mt_result corrupt)
{
    struct mt_error ignored;

    if (open_without_trace(file, &ignored) != MT_OK)
        return corrupt;
    close(file->descriptor);
    file->descriptor = -1;
    return MT_OK;
}

void mtt_file_name(char *name, size_t name_bytes, const struct mt_file_header *header)
{
    snprintf(name, name_bytes, MT_FILE_NAME ".mtt", header->process_id, header->start_realtime_ns);
}

enum mt_result mtt_file_open(struct mtt_file *file, const char *path, struct mt_error *error)
{
    enum mt_result result;

    *file = MTT_FILE_CLOSED;
    file->path = strdup(path);
    if (!file->path)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->descriptor < 0) {
        int trouble = errno;

        result = trouble == ENOENT ? open_without_trace(file, error) : MT_NOT_FOUND;
        if (result == MT_OK)
            return MT_OK;
        if (result == MT_NOT_FOUND)
            result = mt_error_set(error, MT_IO, "%s: %s", path, strerror(trouble));
        goto fail;
    }
    result = header_read(file, error);
    if (result == MT_CORRUPT && file->size_bytes <= MT_FILE_HEADER_BYTES)
        result = open_begun_trace(file, result);
    if (result != MT_OK)
        goto fail;
    if (file->place < 0)
        find_rings(file);
    return MT_OK;
fail:
    mtt_file_close(file);
    return result;
}

void mtt_file_close(struct mtt_file *file)
{
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->rings_descriptor >= 0 && file->rings_descriptor != file->run_rings.descriptor)
        close(file->rings_descriptor);
    run_rings_close(&file->run_rings);
    free(file->path);
    free(file->chunks);
    free(file->slots);
    *file = MTT_FILE_CLOSED;
}

/* --- chunks -------------------------------------------------------------------------------- */

static uint64_t chunk_end(const struct trace_chunk *chunk)
{
    uint64_t end = chunk->offset_bytes + chunk->header.header_bytes + chunk->header.payload_bytes;

    return (end + CHUNK_ALIGNMENT - 1) & ~(uint64_t)(CHUNK_ALIGNMENT - 1);
}

/* Whether the header could be one, at that place of the file. */
static bool is_plausible(const struct mtt_file *file, const struct trace_chunk *chunk)
{
    const struct mt_chunk_header *h = &chunk->header;

    if (h->magic != MT_CHUNK_MAGIC || h->header_bytes < sizeof(*h) ||
        chunk->offset_bytes % CHUNK_ALIGNMENT || chunk->offset_bytes > file->size_bytes ||
        (uint64_t)h->header_bytes + h->payload_bytes > file->size_bytes - chunk->offset_bytes)
        return false;
    if (h->kind != MT_CHUNK_EVENTS)
        return true;
    return h->payload_bytes <= EVENTS_PAYLOAD_MAX && h->raw_bytes <= MT_CHUNK_RAW_MAX &&
           h->event_count <= MT_CHUNK_EVENTS_MAX && h->begin_position <= h->end_position &&
           h->first_time <= h->last_time && h->last_time >> TIME_UNITS_BITS == 0;
}

static bool checksum_matches(const struct mtt_file *file, const struct trace_chunk *chunk)
{
    uint8_t piece[SCAN_PIECE_BYTES];
    uint64_t offset_bytes = chunk->offset_bytes + chunk->header.header_bytes;
    uint64_t left = chunk->header.payload_bytes;
    XXH64_state_t state;

    XXH64_reset(&state, 0);
    XXH64_update(&state, &chunk->header, offsetof(struct mt_chunk_header, checksum));
    while (left) {
        size_t part = left < sizeof(piece) ? (size_t)left : sizeof(piece);

        if (!read_exactly(file->descriptor, piece, part, offset_bytes))
            return false;
        XXH64_update(&state, piece, part);
        offset_bytes += part;
        left -= part;
    }
    return XXH64_digest(&state) == chunk->header.checksum;
}

static bool chunk_read(const struct mtt_file *file, uint64_t offset_bytes,
                       struct trace_chunk *chunk)
{
    chunk->offset_bytes = offset_bytes;
    return read_exactly(file->descriptor, &chunk->header, sizeof(chunk->header), offset_bytes) &&
           is_plausible(file, chunk);
}

static bool chunk_add(struct mtt_file *file, const struct trace_chunk *chunk)
{
    if (!list_has_room(&file->chunks, &file->chunk_capacity, file->chunk_count,
                       sizeof(*file->chunks)))
        return false;
    file->chunks[file->chunk_count++] = *chunk;
    return true;
}

/* --- the index ----------------------------------------------------------------------------- */

static struct mt_index_entry *index_load(const struct mtt_file *file,
                                         const struct trace_chunk *chunk)
{
    struct chunk_loader loader = {0};
    struct mt_index_entry *entries = NULL;

    if (chunk->header.raw_bytes % sizeof(*entries) ||
        chunk->header.raw_bytes / sizeof(*entries) > file->size_bytes / MT_CHUNK_HEADER_BYTES)
        return NULL;
    entries = malloc(chunk->header.raw_bytes + 1);
    if (entries && mtt_file_load(file, chunk, &loader, (uint8_t *)entries, NULL) != MT_OK) {
        free(entries);
        entries = NULL;
    }
    chunk_loader_release(&loader);
    return entries;
}

/* False: there is no index, or it does not check out; then the file must be scanned. */
static bool index_read(struct mtt_file *file)
{
    struct trace_chunk index;
    struct mt_index_entry *entries;
    bool is_good = true;

    if (file->header.state != MT_FILE_CLOSED || !file->header.index_offset_bytes ||
        !chunk_read(file, file->header.index_offset_bytes, &index) ||
        index.header.kind != MT_CHUNK_INDEX)
        return false;
    entries = index_load(file, &index);
    if (!entries)
        return false;
    for (size_t i = 0; is_good && i < index.header.raw_bytes / sizeof(*entries); i++) {
        struct trace_chunk chunk = {entries[i].offset_bytes, entries[i].header};

        is_good = is_plausible(file, &chunk) &&
                  (chunk.header.kind != MT_CHUNK_EVENTS || chunk_add(file, &chunk));
    }
    free(entries);
    if (!is_good)
        file->chunk_count = 0;
    return is_good;
}

/* --- the scan ------------------------------------------------------------------------------ */

struct scan {
    struct mtt_file *file;
    uint64_t patience_bytes;
    uint64_t damaged_bytes;
    uint64_t unknown_chunks;
};

/* The next place from offset_bytes on where the magic of a chunk stands, or the end. */
static uint64_t find_magic(const struct mtt_file *file, uint64_t offset_bytes)
{
    uint8_t piece[SCAN_PIECE_BYTES];

    while (offset_bytes + MT_CHUNK_HEADER_BYTES <= file->size_bytes) {
        ssize_t got = read_at(file->descriptor, piece, sizeof(piece), offset_bytes);

        if (got < CHUNK_ALIGNMENT)
            break;
        for (ssize_t i = 0; i + CHUNK_ALIGNMENT <= got; i += CHUNK_ALIGNMENT) {
            uint32_t magic;

            memcpy(&magic, piece + i, sizeof(magic));
            if (magic == MT_CHUNK_MAGIC)
                return offset_bytes + (uint64_t)i;
        }
        offset_bytes += (uint64_t)got & ~(uint64_t)(CHUNK_ALIGNMENT - 1);
    }
    return file->size_bytes;
}

/* Whether a whole chunk stands there. */
static bool scan_check(struct scan *scan, uint64_t offset_bytes, struct trace_chunk *chunk)
{
    uint64_t cost = MT_CHUNK_HEADER_BYTES;

    if (!chunk_read(scan->file, offset_bytes, chunk))
        return false;
    if (checksum_matches(scan->file, chunk))
        return true;
    cost += chunk->header.payload_bytes;
    scan->patience_bytes -= cost < scan->patience_bytes ? cost : scan->patience_bytes;
    return false;
}

static bool scan_chunks(struct scan *scan)
{
    uint64_t offset_bytes = scan->file->header.header_bytes;

    while (offset_bytes < scan->file->size_bytes) {
        struct trace_chunk chunk;

        if (scan_check(scan, offset_bytes, &chunk)) {
            if (chunk.header.kind == MT_CHUNK_EVENTS && !chunk_add(scan->file, &chunk))
                return false;
            scan->unknown_chunks +=
                chunk.header.kind != MT_CHUNK_EVENTS && chunk.header.kind != MT_CHUNK_INDEX;
            offset_bytes = chunk_end(&chunk);
        } else {
            uint64_t next = scan->patience_bytes
                                ? find_magic(scan->file, offset_bytes + CHUNK_ALIGNMENT)
                                : scan->file->size_bytes;

            scan->damaged_bytes += next - offset_bytes;
            offset_bytes = next;
        }
    }
    return true;
}

static enum mt_result scan_file(struct mtt_file *file, struct model *model, struct mt_error *error)
{
    struct scan scan = {
        .file = file,
        .patience_bytes = SCAN_PATIENCE * (file->size_bytes + ((uint64_t)4 << 20)),
    };

    if (!scan_chunks(&scan))
        return mt_error_set(error, MT_NO_MEMORY, "%s: no memory for the list of chunks",
                            file->path);
    if (scan.damaged_bytes) {
        model_note(model, scan.damaged_bytes, "%s: bytes passed over, damaged or cut short",
                   file->path);
        model_set_incomplete(model);
    }
    if (scan.unknown_chunks)
        model_note(model, scan.unknown_chunks, "%s: chunks of an unknown kind passed over",
                   file->path);
    return MT_OK;
}

/* --- finding it all ------------------------------------------------------------------------ */

static int compare_chunks(const void *left, const void *right)
{
    const struct trace_chunk *a = left, *b = right;

    if (a->header.stream != b->header.stream)
        return a->header.stream < b->header.stream ? -1 : 1;
    if (a->header.begin_position != b->header.begin_position)
        return a->header.begin_position < b->header.begin_position ? -1 : 1;
    return a->offset_bytes < b->offset_bytes ? -1 : a->offset_bytes > b->offset_bytes;
}

static int compare_slots(const void *left, const void *right)
{
    const struct ring_slot *a = left, *b = right;

    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->offset_bytes < b->offset_bytes ? -1 : a->offset_bytes > b->offset_bytes;
}

static bool slot_add(struct mtt_file *file, const struct ring_slot *slot)
{
    if (!list_has_room(&file->slots, &file->slot_capacity, file->slot_count, sizeof(*slot)))
        return false;
    file->slots[file->slot_count++] = *slot;
    return true;
}

static enum mt_result find_own_slots(struct mtt_file *file, struct model *model,
                                     struct mt_error *error)
{
    struct stat status;
    uint64_t offset_bytes = 0, slot_bytes = MT_RING_HEADER_BYTES, bad_count = 0;

    if (fstat(file->rings_descriptor, &status) != 0)
        return MT_OK;
    while (offset_bytes < (uint64_t)status.st_size) {
        struct ring_slot slot;

        if (!ring_slot_read(file->rings_descriptor, offset_bytes, (uint64_t)status.st_size, &slot,
                            &slot_bytes))
            bad_count += !ring_slot_is_unused(file->rings_descriptor, offset_bytes);
        else if (!slot_add(file, &slot))
            return mt_error_set(error, MT_NO_MEMORY, "%s: no memory for its rings", file->path);
        if (slot_bytes > (uint64_t)status.st_size)
            break;
        offset_bytes += slot_bytes;
    }
    if (bad_count) {
        model_note(model, bad_count, "%s: rings that cannot be read", file->path);
        model_set_incomplete(model);
    }
    return MT_OK;
}

/* Those of the run's rings that the process has. One that it has not begun holds nothing. */
static enum mt_result find_slots_of_run(struct mtt_file *file, struct mt_error *error)
{
    const struct run_rings *rings = &file->run_rings;
    uint64_t offset_bytes, slot_bytes;
    struct ring_slot slot;

    for (uint32_t i = 0; i < rings->header.slot_max; i++)
        if (run_rings_slot(rings, i, (uint32_t)file->place, &offset_bytes) &&
            ring_slot_read(rings->descriptor, offset_bytes, rings->file_bytes, &slot,
                           &slot_bytes) &&
            !slot_add(file, &slot))
            return mt_error_set(error, MT_NO_MEMORY, "%s: no memory for its rings", file->path);
    return MT_OK;
}

static enum mt_result find_slots(struct mtt_file *file, struct model *model, struct mt_error *error)
{
    if (file->rings_descriptor < 0)
        return MT_OK;
    if (file->header.minor > MT_FORMAT_MINOR) {
        model_note(model, 1, "%s: left-over rings of the newer trace format %u.%u are not read",
                   file->path, file->header.major, file->header.minor);
        return MT_OK;
    }
    return file->place >= 0 ? find_slots_of_run(file, error) : find_own_slots(file, model, error);
}

/* The header knows how many events went into chunks, also where the file ends before them. */
static void count_missing(const struct mtt_file *file, struct model *model)
{
    uint64_t whole = file->header.event_count, there = 0;

    for (size_t i = 0; i < file->chunk_count; i++)
        there += file->chunks[i].header.event_count;
    model_add_share(
        model, PART_EVENTS,
        (struct model_share){whole > there ? whole - there : 0, whole > there ? whole : there});
}

enum mt_result mtt_file_find(struct mtt_file *file, struct model *model, struct mt_error *error)
{
    /* Rings first: what moves into a chunk meanwhile is then seen there, and not twice. */
    enum mt_result result = find_slots(file, model, error);

    if (result == MT_OK && file->descriptor >= 0 && !index_read(file))
        result = scan_file(file, model, error);
    if (result != MT_OK)
        return result;
    if (file->chunk_count)
        qsort(file->chunks, file->chunk_count, sizeof(*file->chunks), compare_chunks);
    if (file->slot_count)
        qsort(file->slots, file->slot_count, sizeof(*file->slots), compare_slots);
    if (file->descriptor >= 0)
        count_missing(file, model);
    return MT_OK;
}

/* --- loading ------------------------------------------------------------------------------- */

static bool loader_reserve(struct chunk_loader *loader, size_t payload_bytes)
{
    if (!loader->zstd)
        loader->zstd = ZSTD_createDCtx();
    if (payload_bytes > loader->payload_capacity) {
        free(loader->payload);
        loader->payload = malloc(payload_bytes);
        loader->payload_capacity = loader->payload ? payload_bytes : 0;
    }
    return loader->zstd && (loader->payload || !payload_bytes);
}

void chunk_loader_release(struct chunk_loader *loader)
{
    ZSTD_freeDCtx(loader->zstd);
    free(loader->payload);
    *loader = (struct chunk_loader){0};
}

static uint64_t checksum_of(const struct mt_chunk_header *header, const uint8_t *payload)
{
    XXH64_state_t state;

    XXH64_reset(&state, 0);
    XXH64_update(&state, header, offsetof(struct mt_chunk_header, checksum));
    XXH64_update(&state, payload, header->payload_bytes);
    return XXH64_digest(&state);
}

enum mt_result mtt_file_load(const struct mtt_file *file, const struct trace_chunk *chunk,
                             struct chunk_loader *loader, uint8_t *raw, struct mt_error *error)
{
    const struct mt_chunk_header *h = &chunk->header;
    const char *trouble = NULL;

    if (!loader_reserve(loader, h->payload_bytes))
        return mt_error_set(error, MT_NO_MEMORY, "%s: no memory for a chunk", file->path);
    if (!read_exactly(file->descriptor, loader->payload, h->payload_bytes,
                      chunk->offset_bytes + h->header_bytes))
        trouble = translated("cannot be read");
    else if (checksum_of(h, loader->payload) != h->checksum)
        trouble = "checksum mismatch";
    else if (ZSTD_decompressDCtx(loader->zstd, raw, h->raw_bytes, loader->payload,
                                 h->payload_bytes) != h->raw_bytes)
        trouble = translated("does not unpack");
    if (trouble)
        return mt_error_set(error, MT_CORRUPT, "%s: chunk at byte %" PRIu64 ": %s", file->path,
                            chunk->offset_bytes, trouble);
    return MT_OK;
}
