/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#define ZSTD_STATIC_LINKING_ONLY
#include "drain.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "chunk_encoder.h"
#include "chunk_pack.h"
#include "module_list.h"
#include "recorder.h"
#include "recording.h"
#include "recording_state.h"
#include "thread_state.h"

/* What one drain needs; a few MiB of which it touches what the chunk is worth. */
struct drainer {
    atomic_flag is_busy;
    struct drainer *next;
    ZSTD_CCtx *zstd;
    struct chunk_encoder encoder;
    uint8_t packed[CHUNK_PACKED_BYTES(MT_CHUNK_RAW_MAX)];
};

enum { QUICK_CHUNKS = 32 };

static struct drainer *_Atomic drainers;
static _Atomic uint32_t quick_chunks; /* so many are to come */
static _Atomic uint32_t wake_count;   /* futex of the drain thread */
static _Atomic bool must_stop;

/* --- drainers --------------------------------------------------------------------------- */

static struct drainer *drainer_create(void)
{
    size_t own_bytes = (sizeof(struct drainer) + 63) / 64 * 64;
    size_t workspace_bytes = chunk_pack_workspace_bytes();
    struct drainer *drainer = mmap(NULL, own_bytes + workspace_bytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const struct mt_file_header *header = recording_state.files.header;

    if (drainer == MAP_FAILED)
        return NULL;
    drainer->zstd = ZSTD_initStaticCCtx((char *)drainer + own_bytes, workspace_bytes);
    if (!drainer->zstd) {
        munmap(drainer, own_bytes + workspace_bytes);
        return NULL;
    }
    chunk_encoder_init(&drainer->encoder, header->time_shift, header->start_ticks);
    atomic_flag_test_and_set(&drainer->is_busy);
    drainer->next = atomic_load(&drainers);
    while (!atomic_compare_exchange_weak(&drainers, &drainer->next, drainer))
        ;
    return drainer;
}

static struct drainer *drainer_take(void)
{
    for (struct drainer *drainer = atomic_load(&drainers); drainer; drainer = drainer->next)
        if (!atomic_flag_test_and_set_explicit(&drainer->is_busy, memory_order_acquire))
            return drainer;
    return drainer_create();
}

static void drainer_give_back(struct drainer *drainer)
{
    atomic_flag_clear_explicit(&drainer->is_busy, memory_order_release);
}

/* --- one ring --------------------------------------------------------------------------- */

/*
 * A thread that writes faster than we drain waits for us, or drains its own ring: no processor is
 * idle then, and what a chunk costs is taken from the program. For a while, chunks are quick.
 */
void drain_fell_behind(void)
{
    atomic_store_explicit(&quick_chunks, QUICK_CHUNKS, memory_order_relaxed);
}

static enum chunk_effort effort_now(void)
{
    uint32_t left = atomic_load_explicit(&quick_chunks, memory_order_relaxed);

    if (!left)
        return CHUNK_SMALL;
    atomic_store_explicit(&quick_chunks, left - 1, memory_order_relaxed);
    return CHUNK_QUICK;
}

static void chunk_write(struct drainer *drainer, const struct ring *ring, uint64_t begin,
                        const struct chunk_raw *raw)
{
    struct mt_chunk_header facts = {
        .kind = MT_CHUNK_EVENTS,
        .stream = ring->header->stream,
        .event_count = raw->event_count,
        .begin_position = begin,
        .end_position = raw->end_position,
        .first_time = raw->first_time,
        .last_time = raw->last_time,
    };
    size_t size_bytes = chunk_pack(&facts, raw->bytes, raw->size_bytes, effort_now(), drainer->zstd,
                                   drainer->packed, sizeof(drainer->packed));

    if (size_bytes && trace_files_append(&recording_state.files, drainer->packed, size_bytes))
        __atomic_fetch_add(&recording_state.files.header->event_count, raw->event_count,
                           __ATOMIC_RELAXED);
    else
        recording_count_lost(MT_LOST_DISK, raw->event_count);
}

/* The caller holds is_draining. */
static void ring_drain(struct ring *ring)
{
    uint64_t tail = ring_tail(ring), head = ring_head(ring);
    struct drainer *drainer;

    if (tail == head)
        return;
    drainer = drainer_take();
    if (!drainer) { /* no memory to encode with: make room all the same */
        recording_count_lost(MT_LOST_MEMORY, (head - tail) / 2);
        ring_set_tail(ring, head);
        return;
    }
    while (tail < head) {
        struct chunk_raw raw;

        if (!chunk_encode(&drainer->encoder, ring->words, ring->capacity_words, tail, head, &raw))
            raw.end_position = head; /* not one record: only possible if words were overwritten */
        else
            chunk_write(drainer, ring, tail, &raw);
        if (raw.malformed_count)
            recording_count_lost(MT_LOST_MALFORMED, raw.malformed_count);
        tail = raw.end_position;
        ring_set_tail(ring, tail);
    }
    drainer_give_back(drainer);
}

static bool ring_try_drain(struct ring *ring)
{
    if (atomic_flag_test_and_set_explicit(&ring->is_draining, memory_order_acquire))
        return false;
    ring_drain(ring);
    atomic_flag_clear_explicit(&ring->is_draining, memory_order_release);
    return true;
}

void drain_ring_until(struct ring *ring, uint64_t position)
{
    while (ring_tail(ring) < position)
        if (!ring_try_drain(ring))
            sched_yield();
}

void drain_all(void)
{
    for (struct ring *ring = atomic_load(&recording_state.rings); ring; ring = ring->next)
        drain_ring_until(ring, ring_head(ring));
}

static void ring_announce(struct ring *ring)
{
    ring->next = atomic_load(&recording_state.rings);
    while (!atomic_compare_exchange_weak(&recording_state.rings, &ring->next, ring))
        ;
}

struct ring *drain_ring_take(uint32_t thread_id)
{
    struct trace_files *files = &recording_state.files;
    struct ring *ring;

    for (ring = atomic_load(&recording_state.rings); ring; ring = ring->next)
        if (ring_adopt(ring, thread_id))
            return ring;
    ring = ring_create(trace_file_descriptor(&files->rings),
                       atomic_fetch_add(&recording_state.stream_count, 1),
                       recording_state.ring_words, thread_id, files->size_limit_bytes);
    if (ring)
        ring_announce(ring);
    return ring;
}

/* --- the drain thread ------------------------------------------------------------------- */

void drain_wake(void)
{
    atomic_fetch_add_explicit(&wake_count, 1, memory_order_release);
    syscall(SYS_futex, &wake_count, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Until somebody wakes us, or timeout_ns is over. */
static void wait_for_work(uint32_t seen_count, uint64_t timeout_ns)
{
    struct timespec timeout = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};

    syscall(SYS_futex, &wake_count, FUTEX_WAIT_PRIVATE, seen_count, &timeout, NULL, 0);
}

/* A chunk of less than a quarter of a ring compresses badly; it is safe where it is. */
static void drain_ripe_rings(void)
{
    for (struct ring *ring = atomic_load(&recording_state.rings); ring; ring = ring->next)
        if (ring_head(ring) - ring_tail(ring) >= ring->capacity_words / 4)
            ring_try_drain(ring);
}

struct ticking {
    uint64_t period_ns;
    void (*tick)(void);
};

static void *drain_thread_run(void *argument)
{
    const struct ticking *ticking = argument;
    uint64_t next_ns = 0;

    pthread_setname_np(pthread_self(), "memtide");
    recording_note_clocks();        /* takes a ring for this thread */
    thread_state.inside |= IS_OURS; /* nothing that it does from here on is the program's */
    while (!atomic_load_explicit(&must_stop, memory_order_acquire)) {
        uint32_t seen_count = atomic_load_explicit(&wake_count, memory_order_acquire);
        uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

        if (now_ns >= next_ns) {
            modules_record_changes();
            recording_calibrate();
            ticking->tick();
            next_ns = now_ns + ticking->period_ns;
        }
        drain_ripe_rings();
        wait_for_work(seen_count, ticking->period_ns);
    }
    return NULL;
}

bool drain_thread_start(uint32_t tick_ms, void (*tick)(void))
{
    static struct ticking ticking;
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    uint32_t inside = thread_state.inside;
    bool is_started;

    ticking.period_ns = (tick_ms ? tick_ms : 1000) * UINT64_C(1000000);
    ticking.tick = tick;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_state.inside |= IS_OURS; /* the C library allocates for the thread: not the program's */
    is_started = pthread_create(&thread, &attributes, drain_thread_run, &ticking) == 0;
    thread_state.inside = inside;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return is_started;
}

void drain_thread_stop(void)
{
    atomic_store_explicit(&must_stop, true, memory_order_release);
    drain_wake();
}

void drain_forget(void)
{
    atomic_store(&drainers, NULL);
    atomic_store(&must_stop, false);
}
