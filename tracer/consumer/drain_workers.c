/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "drain_workers.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "leaktide/invariant.h"
#include "supply.h"

enum { QUICK_CHUNKS = 32, IDLE_MS = 100 };

/* A ring as the consumer knows it; all but `is_busy` only by who holds that. */
struct known_ring {
    atomic_flag is_busy;
    struct mt_ring_header *header; /* mapped at the first use; NULL: not yet */
    struct recorded *recorded;     /* whose it is; NULL: not known, or nobody's */
    uint32_t stream;               /* as it was when the ring became known */
    uint32_t quick_chunks;         /* so many are to come */
};

static struct {
    struct rings_file file;
    int descriptor;
    struct known_ring rings[MT_RINGS_SLOTS];
    struct recorded *_Atomic processes[MT_RINGS_PROCESSES];
    struct drainer *drainer; /* of the first thread */
    uint32_t worker_count, worker_max;
    uint64_t let_go_words; /* of drain_forget */
    bool cannot_start;     /* another thread */
} drains;

static bool ring_lock(struct known_ring *ring)
{
    return !atomic_flag_test_and_set_explicit(&ring->is_busy, memory_order_acquire);
}

static void ring_lock_surely(struct known_ring *ring)
{
    while (!ring_lock(ring))
        sched_yield();
}

static void ring_unlock(struct known_ring *ring)
{
    atomic_flag_clear_explicit(&ring->is_busy, memory_order_release);
}

/* --- one ring ------------------------------------------------------------------------------ */

/* A consumer before us wrote a chunk and was killed before it could move the tail behind it. */
static void tail_settle(struct known_ring *ring)
{
    uint64_t written = trace_file_resumed_at(&ring->recorded->trace, ring->stream);

    if (written > ring_header_tail(ring->header) && written <= ring_header_head(ring->header))
        __atomic_store_n(&ring->header->tail, written, __ATOMIC_RELEASE);
}

/* Finds out whose it is. False: nobody's, or of a process that is not known yet. */
static bool ring_know(struct known_ring *ring, uint32_t slot)
{
    uint32_t number = shared_load(&drains.file.slots[slot].process);
    struct recorded *recorded;

    if (ring->recorded)
        return true;
    if (shared_load(&drains.file.slots[slot].state) != MT_RINGS_TAKEN || !number ||
        number > drains.file.process_max)
        return false;
    recorded = atomic_load(&drains.processes[number - 1]);
    if (!recorded)
        return false;
    if (!ring->header)
        ring->header = rings_file_map_ring_of(&drains.file, slot, drains.descriptor);
    /* Its magic comes last: before that it is not described. */
    if (!ring->header || __atomic_load_n(&ring->header->magic, __ATOMIC_ACQUIRE) != MT_RING_MAGIC)
        return false;
    ring->stream = ring->header->stream;
    ring->recorded = recorded;
    tail_settle(ring);
    return true;
}

static bool is_ripe(const struct known_ring *ring)
{
    uint64_t words = ring_header_head(ring->header) - ring_header_tail(ring->header);

    return words >= drains.file.capacity_words / 4 ||
           (words && shared_load(&ring->header->writer_waits));
}

/* A writer that waits pays for what a chunk costs: for a while, chunks are quick. */
static enum chunk_effort effort_of(struct known_ring *ring)
{
    if (shared_load(&ring->header->writer_waits))
        ring->quick_chunks = QUICK_CHUNKS;
    if (!ring->quick_chunks)
        return CHUNK_SMALL;
    ring->quick_chunks--;
    return CHUNK_QUICK;
}

static void ring_empty(struct known_ring *ring, struct drainer *drainer)
{
    struct recorded *recorded = ring->recorded;

    MT_ASSERT(ring->header && recorded);
    MT_ASSERT(!ring_lock(ring)); /* somebody holds it: the caller */
    MT_ASSERT(ring->quick_chunks <= QUICK_CHUNKS);
    ring_drain(drainer, &(struct drain){
                            .header = ring->header,
                            .words = ring_header_words(ring->header),
                            .capacity_words = drains.file.capacity_words,
                            .stream = ring->stream,
                            .trace = &recorded->trace,
                            .lost_counts = recorded->place->consumer_lost_counts,
                            .effort = effort_of(ring),
                        });
    __atomic_fetch_add(&drains.file.header->heartbeat, 1, __ATOMIC_RELAXED);
}

/* --- all rings ----------------------------------------------------------------------------- */

static uint32_t empty_ripe(struct drainer *drainer)
{
    uint32_t end = shared_load(&drains.file.header->slots_end), count = 0;

    for (uint32_t slot = 0; slot < end && slot < drains.file.slot_max; slot++) {
        struct known_ring *ring = &drains.rings[slot];

        if (shared_load(&drains.file.slots[slot].state) != MT_RINGS_TAKEN || !ring_lock(ring))
            continue;
        if (ring_know(ring, slot) && is_ripe(ring)) {
            ring_empty(ring, drainer);
            count++;
        }
        ring_unlock(ring);
    }
    return count;
}

static void *worker_run(void *argument)
{
    struct drainer *drainer = drainer_create();
    const uint32_t *wake_count = &drains.file.header->wake_count;

    (void)argument;
    while (drainer) {
        uint32_t seen = shared_load(wake_count);

        if (!empty_ripe(drainer))
            shared_wait(wake_count, seen, IDLE_MS * MILLISECOND_NS);
    }
    return NULL;
}

/* More than one ring was ripe at once, and there are processors left. */
static void worker_start(void)
{
    pthread_t thread;

    if (drains.cannot_start || drains.worker_count >= drains.worker_max)
        return;
    if (pthread_create(&thread, NULL, worker_run, NULL) != 0) {
        drains.cannot_start = true;
        return;
    }
    pthread_detach(thread);
    drains.worker_count++;
}

void drain_begin(const struct rings_file *file, int descriptor, uint32_t worker_max)
{
    drains.file = *file;
    drains.descriptor = descriptor;
    drains.drainer = drainer_create();
    drains.worker_max = worker_max;
}

void drain_remember(struct recorded *recorded)
{
    MT_ASSERT(recorded->number < MT_RINGS_PROCESSES);
    MT_ASSERT(!atomic_load(&drains.processes[recorded->number]));
    atomic_store(&drains.processes[recorded->number], recorded);
}

bool drain_ripe(void)
{
    uint32_t count = empty_ripe(drains.drainer);

    if (count > 1)
        worker_start();
    return count > 0;
}

/* --- of one process ------------------------------------------------------------------------ */

static void own_stream_empty(struct recorded *recorded)
{
    struct own_stream *stream = &recorded->stream;

    ring_drain(drains.drainer, &(struct drain){
                                   .header = &stream->header,
                                   .words = stream->words,
                                   .capacity_words = OWN_STREAM_WORDS,
                                   .stream = stream->header.stream,
                                   .trace = &recorded->trace,
                                   .lost_counts = recorded->place->consumer_lost_counts,
                                   .effort = CHUNK_SMALL,
                               });
}

/* Each ring of the process, held: emptied, and then what `also` does. */
static void each_ring(struct recorded *recorded,
                      void (*also)(struct known_ring *ring, uint32_t slot))
{
    uint32_t end = shared_load(&drains.file.header->slots_end);

    for (uint32_t slot = 0; slot < end && slot < drains.file.slot_max; slot++) {
        struct known_ring *ring = &drains.rings[slot];

        if (shared_load(&drains.file.slots[slot].process) != recorded->number + 1)
            continue;
        ring_lock_surely(ring);
        if (ring_know(ring, slot) && ring->recorded == recorded)
            ring_empty(ring, drains.drainer);
        if (also)
            also(ring, slot);
        ring_unlock(ring);
    }
}

void drain_process(struct recorded *recorded)
{
    if (!recorded_has_trace(recorded))
        return;
    each_ring(recorded, NULL);
    own_stream_empty(recorded);
}

/* Also one that its thread did not come to describe. */
static void take_back(struct known_ring *ring, uint32_t slot)
{
    ring->quick_chunks = 0;
    if (!ring->header)
        ring->header = rings_file_map_ring_of(&drains.file, slot, drains.descriptor);
    if (ring->header && !ring->recorded)
        drains.let_go_words += ring->header->head - ring->header->tail;
    ring->recorded = NULL;
    if (ring->header)
        supply_take_back_slot(&drains.file, slot, ring->header);
}

/* Also those that the process, which may write anything there, says are not its own. */
static void rings_let_go(const struct recorded *recorded)
{
    for (uint32_t slot = 0; slot < drains.file.slot_max; slot++) {
        struct known_ring *ring = &drains.rings[slot];

        ring_lock_surely(ring);
        if (ring->recorded == recorded)
            ring->recorded = NULL;
        ring_unlock(ring);
    }
}

uint64_t drain_forget(struct recorded *recorded)
{
    drains.let_go_words = 0;
    each_ring(recorded, take_back);
    atomic_store(&drains.processes[recorded->number], NULL);
    rings_let_go(recorded);
    if (recorded_has_trace(recorded))
        own_stream_empty(recorded);
    return drains.let_go_words;
}

bool drain_has_no_writer(const struct recorded *recorded, bool without_any)
{
    uint32_t end = shared_load(&drains.file.header->slots_end), writers = 0, rings = 0;

    for (uint32_t slot = 0; slot < end && slot < drains.file.slot_max; slot++) {
        const struct known_ring *ring = &drains.rings[slot];

        if (ring->recorded != recorded)
            continue;
        rings++;
        writers += !(shared_load((const uint32_t *)(const void *)((const char *)ring->header +
                                                                  MT_RING_OWNER_BYTES)) &
                     FUTEX_OWNER_DIED);
    }
    return (rings || without_any) && !writers;
}
