/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States: idle -> running, or impossible for good. A forked child finds itself running with a wiped
 * generation, and starts again with a place or files of its own.
 */
#define _GNU_SOURCE
#include "recording.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alone.h"
#include "guard.h"
#include "heap_memory.h"
#include "leaktide/preload.h"
#include "module_list.h"
#include "recorder.h"
#include "recording_state.h"
#include "served.h"
#include "stack_memory.h"
#include "thread_state.h"

enum phase { IDLE, RUNNING, IMPOSSIBLE };

struct recording_state recording_state;

static _Atomic int phase;
static uint64_t last_generation;
static struct mt_file_header
    described; /* as this process said it; a fork says the same of itself */
static struct thread_state *_Atomic starter; /* the thread that goes from one to the other */
static atomic_flag is_calibrating = ATOMIC_FLAG_INIT;

bool recording_is_impossible(void)
{
    return atomic_load_explicit(&phase, memory_order_relaxed) == IMPOSSIBLE;
}

bool recording_is_alone(void)
{
    return !recording_state.is_served;
}

bool recording_makes_no_calls(void)
{
    return served_avoids_calls();
}

struct mt_file_header *recording_header(void)
{
    return recording_state.header;
}

void recording_count_lost(enum mt_lost reason, uint64_t count)
{
    struct mt_file_header *header = recording_header();

    if (header)
        __atomic_fetch_add(&header->lost_counts[reason], count, __ATOMIC_RELAXED);
    else
        served_count_homeless(count);
}

void recording_count(uint64_t *event_count, uint64_t *lost_count)
{
    const struct mt_rings_process *place = recording_state.is_served ? served_process() : NULL;
    const struct mt_file_header *header = recording_header();

    *event_count = header->event_count;
    *lost_count = 0;
    for (size_t i = 0; i < MT_LOST_KINDS; i++)
        *lost_count += header->lost_counts[i] + (place ? place->consumer_lost_counts[i] : 0);
}

void recording_count_left_out(uint32_t kind)
{
    if (kind)
        served_count_left_out(kind);
}

/* Two numbers that belong together: written by one thread at a time, and somebody else's will do.
 */
void recording_calibrate(void)
{
    struct mt_file_header *header = recording_header();

    if (atomic_flag_test_and_set_explicit(&is_calibrating, memory_order_acquire))
        return;
    header->last_monotonic_ns = clock_now_ns(CLOCK_MONOTONIC);
    header->last_ticks = clock_ticks();
    atomic_flag_clear_explicit(&is_calibrating, memory_order_release);
}

void recording_note_clocks(void)
{
    uint64_t fields[] = {clock_ticks(), clock_now_ns(CLOCK_MONOTONIC),
                         clock_now_ns(CLOCK_REALTIME)};

    recorder_push(MT_RECORD_clock, fields);
}

/* The page that the kernel empties in children, where fork handlers may never run. */
static bool page_create(void)
{
    long size_bytes = sysconf(_SC_PAGESIZE);
    struct recording_page *page =
        mmap(NULL, (size_t)size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return false;
    if (madvise(page, (size_t)size_bytes, MADV_WIPEONFORK) != 0) {
        munmap(page, (size_t)size_bytes);
        return false;
    }
    page->is_settled = 1;
    recording_page = page;
    return true;
}

/* In the care of the consumer if there is one, else alone. */
static bool place_take(const struct recording_setup *setup, const struct mt_file_header *of_parent)
{
    struct mt_rings_process *place = NULL;
    struct mt_file_header *header;

    if (recording_state.is_served)
        place = served_begin(setup, of_parent);
    recording_state.is_served = place != NULL;
    header = place ? &place->header : alone_begin(setup, of_parent);
    recorder_attend_to(place);
    recording_state.header = header;
    if (header)
        described = *header;
    return header != NULL;
}

/* Under a filter that lets no call succeed, of who started us: what is done for a process needs a
 * few. */
static bool is_nobody(void)
{
    return getpid() <= 0;
}

static bool begin_first_time(const struct recording_setup *setup)
{
    if (setup->is_forbidden || !page_create())
        return false;
    clock_init();
    heap_memory_note_variables();
    recording_state.is_served = served_open(setup);
    if (is_nobody()) {
        recording_count_left_out(MT_PROGRAM_OF_CONFINED);
        return false;
    }
    return place_take(setup, NULL);
}

static bool begin_in_child(const struct recording_setup *setup)
{
    struct mt_file_header of_parent = described;

    atomic_flag_clear(&is_calibrating);
    atomic_store(&recording_state.rings, NULL);
    recording_state.header = NULL;
    return setup->follows_forks && place_take(setup, &of_parent);
}

static void begin(bool is_child)
{
    const struct recording_setup *setup = recording_setup();
    bool is_running = is_child ? begin_in_child(setup) : begin_first_time(setup);

    if (!is_running) {
        atomic_store(&phase, IMPOSSIBLE);
        return;
    }
    atomic_store(&recording_page->generation, ++last_generation);
    atomic_store(&phase, RUNNING);
}

/* True when it was this thread that looked. */
static bool begin_if_needed(void)
{
    struct thread_state *nobody = NULL;

    if (!atomic_compare_exchange_strong(&starter, &nobody, &thread_state))
        return false;
    if (atomic_load(&phase) == IDLE)
        begin(false);
    else if (atomic_load(&phase) == RUNNING && !atomic_load(&recording_page->generation))
        begin(true);
    atomic_store(&starter, NULL);
    return true;
}

bool recording_start(void)
{
    for (;;) {
        int now = atomic_load(&phase);

        if (now == RUNNING && atomic_load(&recording_page->generation))
            return true;
        if (now == IMPOSSIBLE)
            return false;
        if (begin_if_needed())
            return atomic_load(&phase) == RUNNING && atomic_load(&recording_page->generation);
        /* A handler that comes while its own thread starts the recording cannot wait for that. */
        if (atomic_load(&starter) == &thread_state)
            return false;
        sched_yield();
    }
}

/* Not in a forked child that has not recorded anything yet. */
static bool is_running_here(void)
{
    return atomic_load(&phase) == RUNNING && atomic_load(&recording_page->generation);
}

void recording_forked(void)
{
    atomic_store(&starter, NULL);
    if (!is_running_here()) /* an event of a handler before ours may have begun it */
        recorder_attend_to(NULL);
}

bool recording_flush(void)
{
    if (recording_state.is_served)
        return served_flush();
    recorder_drain_alone();
    return true;
}

void recording_is_confined(bool is_strict)
{
    if (!is_running_here())
        return;
    if (is_strict) {
        recording_note_clocks();
        thread_state.inside |= IS_OURS; /* for good: its hooks pass everything on */
    } else if (recording_state.is_served) {
        served_avoid_calls();
        stack_memory_avoid_calls();
    }
}

void recording_want_account(void)
{
    if (is_running_here() && recording_state.is_served)
        served_want_account();
}

void recording_exiting(void)
{
    if (is_running_here() && recording_state.is_served)
        served_exiting();
}

/* A vforked child, which ends like this, has the memory of its parent, and is another process. */
void recording_ends_at_once(int exit_status)
{
    if (!is_running_here() || recording_makes_no_calls() ||
        recording_header()->process_id != (uint32_t)getpid() || !guard_enter(LAYER_MARKS))
        return;
    recorder_push(MT_RECORD_process_exit, (uint64_t[]){MT_EXIT_AT_ONCE | (uint64_t)exit_status});
    guard_leave(LAYER_MARKS);
    if (recording_state.is_served)
        served_wake();
}

void recording_finish(int exit_status)
{
    if (!is_running_here())
        return;
    recorder_push(MT_RECORD_process_exit, (uint64_t[]){(uint64_t)exit_status});
    modules_record_changes();
    recording_note_clocks(); /* takes a ring if this thread has none */
    recording_calibrate();
    if (recording_state.is_served) {
        served_wake();
        return;
    }
    recorder_drain_alone();
    thread_state.inside |= IS_OURS;
    alone_end();
    thread_state.inside &= ~(uint32_t)IS_OURS;
}
