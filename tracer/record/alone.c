/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "alone.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process_header.h"
#include "recording_state.h"
#include "rings_file.h"

/* A drainer that one thread at a time uses; they are never given back. */
struct spare_drainer {
    struct drainer *drainer;
    atomic_flag is_busy;
};

enum { DRAINERS = 64, QUICK_CHUNKS = 32 };

static struct {
    struct trace_file trace;
    struct own_file rings; /* not open: rings are private memory */
    uint64_t capacity_words;
    _Atomic uint32_t stream_count;
    _Atomic uint32_t quick_chunks; /* so many are to come */
    struct spare_drainer drainers[DRAINERS];
} alone;

/* --- files --------------------------------------------------------------------------------- */

/* mkdir -p */
static void folder_make(const char *path)
{
    char part[1024];
    size_t length = strlen(path);

    if (length >= sizeof(part))
        return;
    memcpy(part, path, length + 1);
    for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(part, 0700);
        *slash = '/';
    }
    mkdir(part, 0700);
}

static void forget_parent(void)
{
    trace_file_close(&alone.trace);
    own_file_close(&alone.rings);
    atomic_store(&alone.stream_count, 0);
    for (size_t i = 0; i < DRAINERS; i++) {
        alone.drainers[i].drainer = NULL; /* somebody may have been using it */
        atomic_flag_clear(&alone.drainers[i].is_busy);
    }
}

struct mt_file_header *alone_begin(const struct recording_setup *setup,
                                   const struct mt_file_header *of_parent)
{
    struct mt_file_header described;
    char path[sizeof(alone.rings.path)];

    process_header_fill(&described, of_parent, setup);
    if (of_parent)
        forget_parent();
    folder_make(setup->output_path);
    alone.capacity_words = setup->ring_bytes / sizeof(uint64_t);
    if (!trace_file_name(path, sizeof(path), setup->output_path, &described, ".mtt") ||
        !trace_file_create(&alone.trace, path, &described))
        return NULL;
    alone.rings = OWN_FILE_CLOSED;
    trace_file_name(alone.rings.path, sizeof(path), setup->output_path, &described, ".rings");
    own_file_create(&alone.rings);
    return alone.trace.header;
}

/* --- rings --------------------------------------------------------------------------------- */

/*
 * The slot's pages are on disk before the first store: one to a page that the file system cannot
 * hold would kill the program with SIGBUS. Where it may not hold what it has given, it is not
 * asked. Mapped before that: where address space is short, each event comes here again, and the
 * file would grow each time.
 */
static void *slot_map(uint32_t stream, uint64_t slot_bytes)
{
    uint64_t offset_bytes = stream * slot_bytes;
    int descriptor = own_file_descriptor(&alone.rings);
    void *slot;

    if (descriptor < 0 || alone.trace.header_is_apart ||
        offset_bytes + slot_bytes > alone.trace.size_limit_bytes)
        return MAP_FAILED;
    slot =
        mmap(NULL, slot_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)offset_bytes);
    if (slot == MAP_FAILED ||
        posix_fallocate(descriptor, (off_t)offset_bytes, (off_t)slot_bytes) == 0)
        return slot;
    munmap(slot, slot_bytes);
    return MAP_FAILED;
}

/* The number of a stream that came to nothing; another thread may have taken the next. */
static void stream_give_back(uint32_t stream)
{
    uint32_t next = stream + 1;

    atomic_compare_exchange_strong(&alone.stream_count, &next, stream);
}

struct ring *alone_ring_create(void)
{
    uint64_t slot_bytes = MT_RING_HEADER_BYTES + alone.capacity_words * sizeof(uint64_t);
    uint32_t stream = atomic_fetch_add(&alone.stream_count, 1);
    void *slot = slot_map(stream, slot_bytes);

    if (slot == MAP_FAILED) /* recorded, but gone after a kill */
        slot = mmap(NULL, slot_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slot != MAP_FAILED)
        return ring_begin(slot, alone.capacity_words, stream);
    stream_give_back(stream);
    return NULL;
}

/* --- draining ------------------------------------------------------------------------------ */

static struct spare_drainer *drainer_take(void)
{
    for (;; sched_yield())
        for (size_t i = 0; i < DRAINERS; i++) {
            struct spare_drainer *spare = &alone.drainers[i];

            if (atomic_flag_test_and_set_explicit(&spare->is_busy, memory_order_acquire))
                continue;
            if (!spare->drainer)
                spare->drainer = drainer_create();
            return spare;
        }
}

/*
 * A thread that fills its ring waits for nobody but itself: what a chunk costs is taken from the
 * program. For a while, chunks are quick.
 */
static enum chunk_effort effort_now(void)
{
    uint32_t left = atomic_load_explicit(&alone.quick_chunks, memory_order_relaxed);

    if (!left)
        return CHUNK_SMALL;
    atomic_store_explicit(&alone.quick_chunks, left - 1, memory_order_relaxed);
    return CHUNK_QUICK;
}

static bool try_drain(struct ring *ring)
{
    struct spare_drainer *spare;

    if (atomic_flag_test_and_set_explicit(&ring->is_draining, memory_order_acquire))
        return false;
    spare = drainer_take();
    ring_drain(spare->drainer, &(struct drain){
                                   .header = ring->header,
                                   .words = ring->words,
                                   .capacity_words = ring->capacity_words,
                                   .stream = ring->header->stream,
                                   .trace = &alone.trace,
                                   .lost_counts = alone.trace.header->lost_counts,
                                   .effort = effort_now(),
                               });
    atomic_flag_clear_explicit(&spare->is_busy, memory_order_release);
    atomic_flag_clear_explicit(&ring->is_draining, memory_order_release);
    return true;
}

static void drain_until(struct ring *ring, uint64_t position)
{
    while (ring_tail(ring) < position)
        if (!try_drain(ring))
            sched_yield();
}

void alone_drain_until(struct ring *ring, uint64_t position)
{
    atomic_store_explicit(&alone.quick_chunks, QUICK_CHUNKS, memory_order_relaxed);
    drain_until(ring, position);
}

void alone_drain_all(void)
{
    for (struct ring *ring = atomic_load(&recording_state.rings); ring; ring = ring->next)
        drain_until(ring, ring_head(ring));
}

void alone_end(void)
{
    alone_drain_all();
    trace_file_finish(&alone.trace);
    own_file_remove(&alone.rings); /* all of it is in the trace */
}
