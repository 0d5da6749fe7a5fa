/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States: idle -> starting -> running, or impossible for good. A forked child finds itself
 * running with the wrong process id and a wiped generation, and starts again with files of its own.
 */
#define _GNU_SOURCE
#include "recording.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drain.h"
#include "module_list.h"
#include "recorder.h"
#include "recording_state.h"
#include "thread_state.h"

enum phase { IDLE, STARTING, RUNNING, IMPOSSIBLE };

struct recording_state recording_state;

static _Atomic int phase;
static pid_t owner;
static uint64_t last_generation;
static atomic_flag is_calibrating = ATOMIC_FLAG_INIT;

bool recording_is_impossible(void)
{
    return atomic_load_explicit(&phase, memory_order_relaxed) == IMPOSSIBLE;
}

struct mt_file_header *recording_header(void)
{
    return recording_state.files.header;
}

void recording_count_lost(enum mt_lost reason, uint64_t count)
{
    struct mt_file_header *header = recording_header();

    if (header)
        __atomic_fetch_add(&header->lost_counts[reason], count, __ATOMIC_RELAXED);
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
    recording_page = page;
    return true;
}

static bool files_open(const struct recording_setup *setup)
{
    recording_state.ring_words = setup->ring_bytes / sizeof(uint64_t);
    return trace_files_open(&recording_state.files, setup->output_path, setup->run_id,
                            setup->options);
}

static bool begin_first_time(const struct recording_setup *setup)
{
    clock_init();
    return !setup->is_forbidden && page_create() && files_open(setup);
}

static bool begin_in_child(const struct recording_setup *setup)
{
    struct mt_file_header *of_parent = recording_state.files.header;

    trace_files_forget(&recording_state.files);
    drain_forget();
    atomic_flag_clear(&is_calibrating);
    atomic_store(&recording_state.rings, NULL);
    atomic_store(&recording_state.stream_count, 0);
    recording_state.files.header = NULL;
    munmap(of_parent, MT_FILE_HEADER_BYTES);
    return setup->follows_forks && files_open(setup);
}

static void begin(bool is_child)
{
    const struct recording_setup *setup = recording_setup();
    bool is_running = is_child ? begin_in_child(setup) : begin_first_time(setup);

    owner = getpid();
    if (!is_running) {
        atomic_store(&phase, IMPOSSIBLE);
        return;
    }
    recording_calibrate();
    atomic_store(&recording_page->generation, ++last_generation);
    atomic_store(&phase, RUNNING);
}

bool recording_start(void)
{
    int now = atomic_load(&phase);
    bool is_child = false;

    if (now == RUNNING) {
        if (atomic_load(&recording_page->generation))
            return true;
        is_child = owner != getpid();
        if (!is_child)
            return false;
    }
    if (now != STARTING && now != IMPOSSIBLE &&
        atomic_compare_exchange_strong(&phase, &now, STARTING))
        begin(is_child);
    while (atomic_load(&phase) == STARTING)
        sched_yield();
    return atomic_load(&phase) == RUNNING;
}

void recording_start_drain_thread(void)
{
    const struct recording_setup *setup = recording_setup();

    drain_thread_start(setup->tick_ms, setup->tick);
}

void recording_finish(void)
{
    if (atomic_load(&phase) != RUNNING || owner != getpid())
        return;
    recording_note_clocks(); /* takes a ring if this thread has none */
    thread_state.inside |= IS_OURS;
    drain_thread_stop();
    modules_record_changes();
    recording_calibrate();
    drain_all();
    trace_files_close(&recording_state.files);
    thread_state.inside &= ~(uint32_t)IS_OURS;
}
