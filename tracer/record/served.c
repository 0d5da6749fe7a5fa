/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "served.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "patience.h"
#include "process_header.h"
#include "rings_file.h"
#include "served_call.h"

enum {
    SLICE_MS = 10,        /* of a wait, at first; the consumer wakes us before */
    SLICE_MAX_MS = 160,   /* many that wait must not take the processor from it */
    CLAIM_MAX_MS = 60000, /* for a place or a ring, of a consumer that makes none */
    FLUSH_MS = 1000,
    RINGS_AHEAD = 16 /* mapped for threads that begin when calls are forbidden */
};

static struct rings_file file;
static struct mt_rings_process *process;
static uint32_t process_number;
static bool is_confined; /* a fork inherits it; the place of its parent may be another's by then */

/*
 * How things stood when a wait was given up: as long as they stand so, no thread of the process
 * waits again.
 */
static struct {
    _Atomic bool is_known;
    _Atomic uint32_t heartbeat;
    _Atomic int state; /* enum mt_rings_consumer */
} given_up;
static _Atomic uint64_t
    supply_in_vain; /* supply_count + 1, when a consumer that does things made none */

/* Rings that were mapped while that was allowed. */
static struct {
    uint32_t from, count;
    char *base;
} ahead;

static bool has_calls(void)
{
    return !__atomic_load_n(&is_confined, __ATOMIC_RELAXED);
}

static void give_up(const struct patience *patience)
{
    given_up.heartbeat = patience->heartbeat;
    given_up.state = (int)patience->state;
    given_up.is_known = true;
}

static bool is_given_up(void)
{
    return given_up.is_known && given_up.heartbeat == shared_load(&file.header->heartbeat);
}

/* At most a slice, until the word is no longer `seen`; spins where calls are forbidden. */
static void wait_a_slice(const uint32_t *word, uint32_t seen, uint32_t slice_ms)
{
    uint64_t end_ns = clock_now_ns(CLOCK_MONOTONIC) + slice_ms * MILLISECOND_NS;

    if (has_calls()) {
        shared_wait(word, seen, slice_ms * MILLISECOND_NS);
        return;
    }
    while (shared_load(word) == seen && clock_now_ns(CLOCK_MONOTONIC) < end_ns)
        for (int i = 0; i < 100; i++)
            atomic_signal_fence(memory_order_seq_cst);
}

void served_wake(void)
{
    if (has_calls())
        rings_file_wake_consumer(&file);
    else /* it looks by itself, often */
        __atomic_fetch_add(&file.header->wake_count, 1, __ATOMIC_SEQ_CST);
}

/* --- the file of the run ------------------------------------------------------------------ */

static int open_by_path(const char *folder)
{
    char path[1100];

    snprintf(path, sizeof(path), "%s/%s", folder, MT_RINGS_NAME);
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

static bool map_and_close(int descriptor, uint64_t run_id)
{
    bool is_mapped = descriptor >= 0 && rings_file_map(&file, descriptor, run_id);

    if (descriptor >= 0)
        close(descriptor);
    return is_mapped;
}

/* Rings in memory have no path. */
bool served_open(const struct recording_setup *setup)
{
    return map_and_close(open_by_path(setup->output_path), setup->run_id) ||
           map_and_close(served_call(setup->run_id), setup->run_id);
}

/* --- places -------------------------------------------------------------------------------- */

static bool is_served(void)
{
    return shared_load(&file.header->service) == MT_RINGS_SERVED;
}

static bool take(uint32_t *state)
{
    uint32_t ready = MT_RINGS_READY;

    return shared_load(state) == MT_RINGS_READY &&
           __atomic_compare_exchange_n(state, &ready, MT_RINGS_TAKEN, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static uint32_t slice_after(uint32_t slice_ms)
{
    return slice_ms < SLICE_MAX_MS ? 2 * slice_ms : SLICE_MAX_MS;
}

/* A number below `end` that take_one says yes to, or -1; the consumer makes more meanwhile. */
static int64_t claim(bool (*take_one)(uint32_t number), const uint32_t *end, uint32_t max)
{
    struct mt_rings_header *header = file.header;
    struct patience patience = {0};
    uint64_t end_ns = 0;
    bool waits = has_calls() && !is_given_up() &&
                 supply_in_vain != shared_load(&header->supply_count) + UINT64_C(1);

    for (uint32_t slice_ms = SLICE_MS;; slice_ms = slice_after(slice_ms)) {
        uint32_t seen = shared_load(&header->supply_count);
        uint32_t count = shared_load(end);

        for (uint32_t i = 0; i < count && i < max; i++)
            if (take_one(i))
                return i;
        if (!waits || count >= max || shared_load(&header->has_no_room) || !is_served())
            return -1;
        if (!patience_lasts(&patience, header)) {
            give_up(&patience);
            return -1;
        }
        if (end_ns && patience.looked_ns >= end_ns) {
            supply_in_vain = seen + UINT64_C(1);
            return -1;
        }
        if (!end_ns)
            end_ns = patience.looked_ns + CLAIM_MAX_MS * MILLISECOND_NS;
        __atomic_fetch_add(&header->claimers, 1, __ATOMIC_SEQ_CST);
        served_wake();
        wait_a_slice(&header->supply_count, seen, slice_ms);
        __atomic_fetch_sub(&header->claimers, 1, __ATOMIC_SEQ_CST);
    }
}

static bool take_process(uint32_t number)
{
    return take(&file.processes[number].state);
}

static bool is_mapped_ahead(uint32_t slot)
{
    return slot - ahead.from < ahead.count;
}

static bool take_slot(uint32_t number)
{
    return (has_calls() || is_mapped_ahead(number)) && take(&file.slots[number].state);
}

static void describe(struct mt_rings_process *place, const struct recording_setup *setup,
                     const struct mt_file_header *of_parent)
{
    place->process_id = (uint32_t)getpid();
    process_header_fill(&place->header, of_parent, setup);
    place->facts = setup->facts;
}

struct mt_rings_process *served_begin(const struct recording_setup *setup,
                                      const struct mt_file_header *of_parent)
{
    const struct mt_rings_process *parent = process;
    int64_t number;

    process = NULL;
    number = is_served() ? claim(take_process, &file.header->processes_end, file.process_max) : -1;
    if (number < 0)
        return NULL;
    process_number = (uint32_t)number;
    process = &file.processes[process_number];
    describe(process, setup, of_parent);
    process->makes_no_calls = !has_calls();
    /* A fork inherits a pause, where its parent's place is still its parent's. */
    if (parent && of_parent && parent->header.start_ticks == of_parent->start_ticks)
        process->attention = shared_load(&parent->attention) & MT_ATTENTION_PAUSED;
    if (has_calls())
        process->pid_namespace = pid_name_space(OWN_PID_NAME_SPACE);
    /* The consumer says that it ends before it looks who is there; so one of us sees the other. */
    __atomic_store_n(&process->state, MT_RINGS_LIVE, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!is_served()) { /* it ended while we came */
        __atomic_store_n(&process->state, MT_RINGS_READY, __ATOMIC_RELEASE);
        process = NULL;
        return NULL;
    }
    served_wake();
    return process;
}

/* --- rings --------------------------------------------------------------------------------- */

static struct mt_ring_header *slot_map(uint32_t slot)
{
    if (is_mapped_ahead(slot))
        return (struct mt_ring_header *)(ahead.base + (slot - ahead.from) * file.slot_bytes);
    return has_calls() ? rings_file_map_ring(&file, slot) : NULL;
}

struct ring *served_ring_create(void)
{
    int64_t slot = claim(take_slot, &file.header->slots_end, file.slot_max);
    struct mt_ring_header *header;

    if (slot < 0)
        return NULL;
    /* Before anything else: who is killed now leaves a ring that can be given back. */
    __atomic_store_n(&file.slots[slot].process, process_number + 1, __ATOMIC_RELEASE);
    header = slot_map((uint32_t)slot);
    if (!header) {
        __atomic_store_n(&file.slots[slot].process, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&file.slots[slot].state, MT_RINGS_READY, __ATOMIC_RELEASE);
        return NULL;
    }
    served_wake(); /* so that there are others */
    return ring_begin(header, file.capacity_words,
                      __atomic_fetch_add(&process->stream_count, 1, __ATOMIC_RELAXED));
}

bool served_wait_for_room(struct ring *ring, uint64_t position)
{
    struct mt_ring_header *header = ring->header;
    struct patience patience = {0};

    for (uint32_t slice_ms = SLICE_MS; ring_tail(ring) < position;
         slice_ms = slice_after(slice_ms)) {
        uint32_t moves = shared_load(&header->tail_moves);

        if (shared_load(&process->is_refused) || is_given_up())
            return false;
        if (!patience_lasts(&patience, file.header)) {
            give_up(&patience);
            return false;
        }
        __atomic_store_n(&header->writer_waits, 1, __ATOMIC_SEQ_CST);
        served_wake();
        if (ring_tail(ring) < position)
            wait_a_slice(&header->tail_moves, moves, slice_ms);
        __atomic_store_n(&header->writer_waits, 0, __ATOMIC_SEQ_CST);
    }
    return true;
}

enum mt_lost served_lost_reason(void)
{
    if (!is_given_up())
        return MT_LOST_RECORDER;
    switch (atomic_load(&given_up.state)) {
    case MT_CONSUMER_STOPPED:
        return MT_LOST_STOPPED;
    case MT_CONSUMER_WAITS:
        return MT_LOST_WAITING;
    default:
        return MT_LOST_RECORDER;
    }
}

void served_step_ended(uint64_t step)
{
    if (!process || !__atomic_load_n(&process->step_end_wanted, __ATOMIC_RELAXED) || !has_calls())
        return;
    __atomic_store_n(&process->step_end_wanted, 0, __ATOMIC_RELAXED);
    process->step_end_ns = clock_now_ns(CLOCK_MONOTONIC);
    __atomic_store_n(&process->step_ended, step, __ATOMIC_RELEASE);
    served_wake();
}

void served_exiting(void)
{
    uint32_t wait_ms = process ? shared_load(&process->exit_wait_ms) : 0;
    uint64_t begin_ns, waited_ns = 0;

    /* A child of vfork has the place of its parent. */
    if (!wait_ms || !has_calls() || process->process_id != (uint32_t)getpid())
        return;
    begin_ns = clock_now_ns(CLOCK_MONOTONIC);
    shared_store(&process->is_exiting, 1);
    served_wake();
    while (!shared_load(&process->exit_is_read) && waited_ns < wait_ms * MILLISECOND_NS) {
        shared_wait(&process->exit_is_read, 0, wait_ms * MILLISECOND_NS - waited_ns);
        waited_ns = clock_now_ns(CLOCK_MONOTONIC) - begin_ns;
    }
    shared_store(&process->is_exiting, 0);
}

void served_want_account(void)
{
    if (process)
        shared_store(&process->account_wanted, 1);
}

bool served_flush(void)
{
    uint64_t end_ns = clock_now_ns(CLOCK_MONOTONIC) + FLUSH_MS * MILLISECOND_NS;
    uint32_t wanted = __atomic_add_fetch(&process->flush_wanted, 1, __ATOMIC_SEQ_CST), done;

    served_wake();
    while ((int32_t)((done = shared_load(&process->flush_done)) - wanted) < 0) {
        if (clock_now_ns(CLOCK_MONOTONIC) >= end_ns)
            return false;
        wait_a_slice(&process->flush_done, done, SLICE_MS);
    }
    return true;
}

void served_avoid_calls(void)
{
    uint32_t first = 0, end = shared_load(&file.header->slots_end);
    struct mt_ring_header *base;
    struct rings_file several = file;

    while (first < end && first < file.slot_max &&
           shared_load(&file.slots[first].state) != MT_RINGS_READY)
        first++;
    /* The rings from there on as if they were one. */
    several.rings_offset_bytes += first * file.slot_bytes;
    several.slot_bytes = RINGS_AHEAD * file.slot_bytes;
    if (!ahead.count && first + RINGS_AHEAD <= file.slot_max) {
        base = rings_file_map_ring(&several, 0);
        if (base) {
            ahead.base = (char *)base;
            ahead.from = first;
            ahead.count = RINGS_AHEAD;
        }
    }
    __atomic_store_n(&process->makes_no_calls, 1, __ATOMIC_RELEASE);
    rings_file_wake_consumer(&file);
    __atomic_store_n(&is_confined, true, __ATOMIC_RELAXED);
}

bool served_avoids_calls(void)
{
    return !has_calls();
}

struct mt_rings_process *served_process(void)
{
    return process;
}

void served_count_homeless(uint64_t count)
{
    if (file.header)
        __atomic_fetch_add(&file.header->lost_count, count, __ATOMIC_RELAXED);
}

void served_count_left_out(uint32_t kind)
{
    if (file.header && kind < MT_PROGRAM_KINDS)
        __atomic_fetch_add(&file.header->left_out_count[kind], 1, __ATOMIC_RELAXED);
}
