/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorted pieces, merged by a heap of one cursor each.
 *
 * The last piece is not packed; where it is the only one, nothing is.
 */
#include "memscope_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "list.h"
#include "memscope_pack.h"
#include "scratch_file.h"

enum { window_bytes = 1 << 15 };

const struct memscope_runs_limits memscope_runs_usual = {1 << 18, 32 << 20};

/* A packed piece: in memory, or where bytes is NULL, in the scratch file. */
struct run {
    uint8_t *bytes;
    uint64_t offset_bytes, size_bytes;
};

struct cursor {
    struct memscope_record record;
    size_t run;
    /* Of a packed piece: what is read of it and not yet taken. */
    struct memscope_pack *pack;
    uint8_t *window; /* of a piece in the file; owned */
    const uint8_t *in, *end;
    uint64_t taken_bytes; /* of the file */
};

struct memscope_runs {
    struct memscope_runs_limits limits;
    struct memscope_record *records; /* the piece that is being filled */
    size_t count;
    struct memscope_order order;
    size_t next; /* of the last piece */
    struct run *runs;
    size_t run_count, run_capacity;
    uint64_t memory_bytes;
    struct scratch_file file;
    bool has_file;
    struct cursor *cursors, **heap;
    size_t heap_count;
    bool is_top_used, has_failed;
};

struct memscope_runs *memscope_runs_create(struct memscope_runs_limits limits)
{
    struct memscope_runs *runs = calloc(1, sizeof(*runs));

    if (!runs)
        return NULL;
    runs->limits = limits;
    runs->file.descriptor = -1;
    runs->records = malloc(limits.piece_records * sizeof(*runs->records));
    if (runs->records)
        return runs;
    free(runs);
    return NULL;
}

void memscope_runs_destroy(struct memscope_runs *runs)
{
    if (!runs)
        return;
    for (size_t i = 0; i < runs->run_count; i++)
        free(runs->runs[i].bytes);
    for (size_t i = 0; runs->cursors && i <= runs->run_count; i++) {
        free(runs->cursors[i].pack);
        free(runs->cursors[i].window);
    }
    memscope_order_release(&runs->order);
    scratch_file_close(&runs->file);
    free(runs->records);
    free(runs->runs);
    free(runs->cursors);
    free(runs->heap);
    free(runs);
}

/* --- putting ------------------------------------------------------------------------------- */

/* The sorted piece, packed; NULL when there is no memory. */
static uint8_t *packed(const struct memscope_order *order, size_t count, size_t *size_bytes)
{
    struct memscope_pack *pack = calloc(1, sizeof(*pack));
    size_t capacity = count * 16 + PACKED_RECORD_MOST_BYTES, size = 0;
    uint8_t *bytes = pack ? malloc(capacity) : NULL, *larger = NULL;

    for (size_t i = 0; bytes && i < count; i++) {
        if (capacity - size < PACKED_RECORD_MOST_BYTES) {
            larger = realloc(bytes, capacity *= 2);
            if (!larger)
                free(bytes);
            bytes = larger;
            if (!bytes)
                break;
        }
        size = (size_t)(memscope_pack_put(pack, memscope_order_at(order, i), bytes + size) - bytes);
    }
    free(pack);
    *size_bytes = size;
    return bytes;
}

/* Packed pieces go to the file when there are many, unless the disk does not take them. */
static void store(struct memscope_runs *runs, struct run *run)
{
    uint8_t *smaller;

    if (runs->memory_bytes + run->size_bytes > runs->limits.memory_bytes) {
        if (!runs->has_file)
            runs->has_file = scratch_file_open(&runs->file);
        run->offset_bytes = runs->file.size_bytes;
        if (runs->has_file && scratch_file_append(&runs->file, run->bytes, run->size_bytes)) {
            free(run->bytes);
            run->bytes = NULL;
            return;
        }
    }
    runs->memory_bytes += run->size_bytes;
    smaller = realloc(run->bytes, run->size_bytes);
    run->bytes = smaller ? smaller : run->bytes;
}

/* The piece that is full becomes a run. */
static bool piece_end(struct memscope_runs *runs)
{
    struct run run = {0};

    if (!list_has_room(&runs->runs, &runs->run_capacity, runs->run_count, sizeof(run)))
        return false;
    if (memscope_order_make(&runs->order, runs->records, runs->count)) {
        size_t size_bytes;

        run.bytes = packed(&runs->order, runs->count, &size_bytes);
        run.size_bytes = size_bytes;
    }
    memscope_order_release(&runs->order);
    if (!run.bytes)
        return false;
    store(runs, &run);
    runs->runs[runs->run_count++] = run;
    runs->count = 0;
    return true;
}

struct memscope_record *memscope_runs_put(struct memscope_runs *runs)
{
    struct memscope_record *record;

    if (runs->count == runs->limits.piece_records && !runs->has_failed)
        runs->has_failed = !piece_end(runs);
    if (runs->has_failed)
        return NULL;
    record = &runs->records[runs->count++];
    memset(record, 0, sizeof(*record));
    return record;
}

/* --- taking -------------------------------------------------------------------------------- */

/* Whole records at the front of the window, or all that is left of the piece. */
static bool fill_window(const struct memscope_runs *runs, struct cursor *cursor)
{
    const struct run *run = &runs->runs[cursor->run];
    size_t kept = (size_t)(cursor->end - cursor->in);
    uint64_t left = run->size_bytes - cursor->taken_bytes;
    size_t more = left < window_bytes - kept ? (size_t)left : window_bytes - kept;

    if (kept)
        memmove(cursor->window, cursor->in, kept);
    if (!scratch_file_read(&runs->file, run->offset_bytes + cursor->taken_bytes,
                           cursor->window + kept, more))
        return false;
    cursor->taken_bytes += more;
    cursor->in = cursor->window;
    cursor->end = cursor->window + kept + more;
    return true;
}

/* The next record of a piece, *has_record false at its end; false when it cannot be read. */
static bool advance(struct memscope_runs *runs, struct cursor *cursor, bool *has_record)
{
    *has_record = true;
    if (!cursor->pack) { /* the last piece */
        *has_record = runs->next < runs->count;
        if (*has_record)
            cursor->record = *memscope_order_at(&runs->order, runs->next++);
        return true;
    }
    if (cursor->window && cursor->end - cursor->in < PACKED_RECORD_MOST_BYTES &&
        cursor->taken_bytes < runs->runs[cursor->run].size_bytes && !fill_window(runs, cursor))
        return false;
    *has_record = cursor->in < cursor->end;
    if (!*has_record)
        return true;
    cursor->in = memscope_pack_get(cursor->pack, cursor->in, cursor->end, &cursor->record);
    return cursor->in != NULL;
}

static bool comes_first(const void *row, const void *other)
{
    const struct cursor *a = *(struct cursor *const *)row, *b = *(struct cursor *const *)other;

    if (a->record.process != b->record.process)
        return a->record.process < b->record.process;
    if (a->record.time_ns != b->record.time_ns)
        return a->record.time_ns < b->record.time_ns;
    return a->run < b->run;
}

static bool cursor_open(struct memscope_runs *runs, struct cursor *cursor)
{
    const struct run *run = &runs->runs[cursor->run];

    cursor->pack = calloc(1, sizeof(*cursor->pack));
    if (!cursor->pack)
        return false;
    if (run->bytes) {
        cursor->in = run->bytes;
        cursor->end = run->bytes + run->size_bytes;
        return true;
    }
    cursor->window = malloc(window_bytes);
    cursor->in = cursor->end = cursor->window;
    return cursor->window != NULL;
}

static enum mt_result lost(struct mt_error *error)
{
    return mt_error_set(error, MT_IO, "the scratch file in which rows are sorted: %s",
                        strerror(errno));
}

enum mt_result memscope_runs_end(struct memscope_runs *runs, struct mt_error *error)
{
    size_t count = runs->run_count + 1;
    bool has_memory =
        !runs->has_failed && memscope_order_make(&runs->order, runs->records, runs->count);

    runs->cursors = has_memory ? calloc(count, sizeof(*runs->cursors)) : NULL;
    runs->heap = runs->cursors ? calloc(count, sizeof(*runs->heap)) : NULL;
    has_memory = runs->heap != NULL;
    for (size_t i = 0; has_memory && i < count; i++) {
        struct cursor *cursor = &runs->cursors[i];
        bool has_record = false;

        cursor->run = i;
        has_memory = i == runs->run_count || cursor_open(runs, cursor);
        if (has_memory && !advance(runs, cursor, &has_record))
            return lost(error);
        if (has_record)
            runs->heap[runs->heap_count++] = cursor;
    }
    if (!has_memory)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to sort the rows of a recording");
    heap_make(runs->heap, runs->heap_count, sizeof(*runs->heap), comes_first);
    return MT_OK;
}

enum mt_result memscope_runs_next(struct memscope_runs *runs, const struct memscope_record **record,
                                  struct mt_error *error)
{
    *record = NULL;
    if (runs->is_top_used) {
        bool has_record;

        if (!advance(runs, runs->heap[0], &has_record))
            return lost(error);
        if (!has_record)
            runs->heap[0] = runs->heap[--runs->heap_count];
        if (runs->heap_count)
            heap_sift_down(runs->heap, runs->heap_count, sizeof(*runs->heap), 0, comes_first);
    }
    runs->is_top_used = runs->heap_count > 0;
    if (runs->is_top_used)
        *record = &runs->heap[0]->record;
    return MT_OK;
}
