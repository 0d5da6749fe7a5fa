/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer's loop. Its first thread does everything; other threads only empty rings.
 */
#define _GNU_SOURCE
#include "consumer.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "accounts.h"
#include "clock.h"
#include "drain_workers.h"
#include "hearing.h"
#include "owner.h"
#include "recorded.h"
#include "supply.h"

enum {
    RINGS_DESCRIPTOR = 3,
    LOOK_MS = 20,      /* at least so often */
    HURRY_NS = 200000, /* the same, when a process may not wake us */
    ENDS_MS = 5, /* processes are asked for their ends not more often, unless that is wanted */
    STILLBORN_MS = 10000,
    WORDS_OF_AN_EVENT = 2 /* at least */
};

static struct {
    struct consumer_setup setup;
    struct rings_file *file;
    struct recorded *recorded[MT_RINGS_PROCESSES];
    uint64_t taken_since_ns[MT_RINGS_PROCESSES];
    uint64_t next_ends_ns;
} consumer;

static uint32_t place_count(void)
{
    uint32_t end = shared_load(&consumer.file->header->processes_end);

    return end < consumer.file->process_max ? end : consumer.file->process_max;
}

/* --- processes come and go ----------------------------------------------------------------- */

static void forget(uint32_t number)
{
    struct recorded *recorded = consumer.recorded[number];
    uint64_t lost_count;

    consumer.recorded[number] = NULL;
    hearing_remove(recorded);
    if (recorded_has_trace(recorded))
        accounts_end(recorded);
    accounts_forget(recorded);
    if (recorded_has_trace(recorded))
        own_stream_clocks(&recorded->stream);
    lost_count = drain_forget(recorded) / WORDS_OF_AN_EVENT;
    lost_count += recorded_close(recorded);
    __atomic_fetch_add(&consumer.file->header->lost_count, lost_count, __ATOMIC_RELAXED);
    supply_take_back_process(consumer.file, number);
}

/* The image that this process was before: it became another program. */
static void end_images_before(const struct recorded *now)
{
    for (uint32_t i = 0; i < place_count(); i++) {
        struct recorded *before = consumer.recorded[i];

        if (before && before != now && now->process_id && before->process_id == now->process_id &&
            before->place->header.start_ticks < now->place->header.start_ticks)
            forget(i); /* and lets go of the name at which it is spoken to */
    }
}

static void make_trace(struct recorded *recorded)
{
    if (!recorded_make_trace(recorded, consumer.setup.folder))
        return;
    drain_remember(recorded);
    hearing_add(recorded);
}

static void look_for_new(void)
{
    for (uint32_t i = 0; i < place_count(); i++) {
        struct mt_rings_process *place = &consumer.file->processes[i];

        if (shared_load(&place->state) != MT_RINGS_LIVE)
            continue;
        if (!consumer.recorded[i]) {
            consumer.recorded[i] = recorded_open(place, i, &consumer.file->header->heartbeat);
            if (!consumer.recorded[i])
                continue;
            consumer.taken_since_ns[i] = 0;
            end_images_before(consumer.recorded[i]);
            make_trace(consumer.recorded[i]);
        }
    }
}

/* Killed before it could say who it is. */
static void look_for_stillborn(uint32_t number, uint64_t now_ns)
{
    struct mt_rings_process *place = &consumer.file->processes[number];
    uint64_t *since_ns = &consumer.taken_since_ns[number];

    if (shared_load(&place->state) != MT_RINGS_TAKEN) {
        *since_ns = 0;
        return;
    }
    if (!*since_ns)
        *since_ns = now_ns;
    if (now_ns - *since_ns >= STILLBORN_MS * MILLISECOND_NS) {
        *since_ns = 0;
        supply_take_back_process(consumer.file, number);
    }
}

static void look_for_ends(uint64_t now_ns)
{
    bool is_hidden_over = shared_load(&consumer.file->header->is_launcher_done);

    for (uint32_t i = 0; i < place_count(); i++) {
        struct recorded *recorded = consumer.recorded[i];

        if (!recorded) {
            look_for_stillborn(i, now_ns);
            continue;
        }
        if (!recorded_has_trace(recorded))
            make_trace(recorded);
        /* One that we cannot see is over when none of its threads is left. */
        if (recorded_look_for_end(recorded) ||
            (!recorded->process_id && drain_has_no_writer(recorded, is_hidden_over)))
            forget(i);
    }
}

/* --- what is wanted ------------------------------------------------------------------------ */

static void publish_all(void)
{
    for (uint32_t i = 0; i < place_count(); i++)
        if (consumer.recorded[i] && recorded_has_trace(consumer.recorded[i]))
            recorded_publish(consumer.recorded[i]);
}

static void look_at_each(uint64_t now_ns)
{
    for (uint32_t i = 0; i < place_count(); i++) {
        struct recorded *recorded = consumer.recorded[i];
        uint32_t wanted;

        if (!recorded)
            continue;
        if (!recorded_has_trace(recorded))
            continue;
        recorded_sample(recorded, now_ns);
        accounts_look(recorded, now_ns);
        hearing_look_at_file(recorded, now_ns);
        wanted = shared_load(&recorded->place->flush_wanted);
        if (wanted != shared_load(&recorded->place->flush_done) ||
            own_stream_is_ripe(&recorded->stream))
            drain_process(recorded);
        if (wanted != shared_load(&recorded->place->flush_done)) {
            recorded_publish(recorded);
            shared_store(&recorded->place->flush_done, wanted);
            shared_wake(&recorded->place->flush_done);
        }
    }
}

/* The launcher wants all that was recorded up to now; ends were looked for after it said so. */
static void flush_if_wanted(uint32_t wanted)
{
    struct mt_rings_header *header = consumer.file->header;

    if (wanted == shared_load(&header->flush_done))
        return;
    for (uint32_t i = 0; i < place_count(); i++)
        if (consumer.recorded[i])
            drain_process(consumer.recorded[i]);
    publish_all();
    shared_store(&header->live_count, rings_file_live_count(consumer.file));
    shared_store(&header->flush_done, wanted);
    shared_wake(&header->flush_done);
}

static bool makes_somebody_no_calls(void)
{
    for (uint32_t i = 0; i < place_count(); i++)
        if (consumer.recorded[i] && shared_load(&consumer.recorded[i]->place->makes_no_calls))
            return true;
    return false;
}

/* --- the end ------------------------------------------------------------------------------- */

static bool is_launcher_done(void)
{
    return shared_load(&consumer.file->header->is_launcher_done) ||
           getppid() != consumer.setup.launcher;
}

/* A process that comes at this very moment sees that it is too late, or we see the process. */
static bool may_end(void)
{
    if (!is_launcher_done() || rings_file_live_count(consumer.file))
        return false;
    __atomic_store_n(&consumer.file->header->service, MT_RINGS_ENDED, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!rings_file_live_count(consumer.file))
        return true;
    shared_store(&consumer.file->header->service, MT_RINGS_SERVED);
    return false;
}

static void sleep_until_needed(uint32_t seen)
{
    rings_file_sleep(consumer.file, seen,
                     makes_somebody_no_calls() ? HURRY_NS : LOOK_MS * MILLISECOND_NS);
}

/* --- begin --------------------------------------------------------------------------------- */

static void descriptors_close(int rings)
{
    int nothing;

    if (rings != RINGS_DESCRIPTOR)
        dup3(rings, RINGS_DESCRIPTOR, O_CLOEXEC);
    nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0)
        for (int i = 0; i < RINGS_DESCRIPTOR; i++)
            if (i != nothing)
                dup2(nothing, i);
    if (syscall(SYS_close_range, RINGS_DESCRIPTOR + 1, ~0u, 0) != 0)
        for (int i = RINGS_DESCRIPTOR + 1; i < 65536; i++)
            close(i);
}

/* What the launcher's shell wants of the program is not meant for us. */
static void limit_raise(int kind)
{
    struct rlimit limit;

    if (getrlimit(kind, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(kind, &limit);
}

static void signals_choose(void)
{
    static const int ignored[] = {SIGPIPE, SIGXFSZ, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
}

static void begin(const struct consumer_setup *setup)
{
    setsid();
    prctl(PR_SET_NAME, "leaktide-drain");
    signals_choose();
    descriptors_close(setup->descriptor);
    limit_raise(RLIMIT_NOFILE);
    limit_raise(RLIMIT_AS);
    clock_init();
    consumer.setup = *setup;
    consumer.setup.descriptor = RINGS_DESCRIPTOR;
    consumer.file = &consumer.setup.file;
    owner_lock((pthread_mutex_t *)&consumer.file->header->consumer);
    (void)!chdir("/");
    drain_begin(consumer.file, RINGS_DESCRIPTOR, setup->worker_max);
    hearing_begin(setup->folder, consumer.file->header->run_id, RINGS_DESCRIPTOR);
}

/*
 * What was lost with no trace to tell of it is told by what stays: the header alone, in a new file.
 * The old one is not cut: a process that came too late, or that hides, may still write into it.
 */
static void rings_put_away(void)
{
    const struct mt_rings_header header = *consumer.file->header;
    char path[1200];

    snprintf(path, sizeof(path), "%s/%s", consumer.setup.folder, MT_RINGS_NAME);
    if (header.lost_count)
        rings_file_replace(path, &header);
    else
        unlink(path);
}

int consumer_run(const struct consumer_setup *setup)
{
    begin(setup);
    for (;;) {
        uint32_t seen = shared_load(&consumer.file->header->wake_count);
        uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
        uint32_t flush_wanted = shared_load(&consumer.file->header->flush_wanted);
        bool has_work;

        __atomic_fetch_add(&consumer.file->header->heartbeat, 1, __ATOMIC_RELAXED);
        look_for_new();
        supply_look(consumer.file, RINGS_DESCRIPTOR);
        has_work = drain_ripe();
        look_at_each(now_ns);
        accounts_poll(now_ns);
        if (now_ns >= consumer.next_ends_ns ||
            flush_wanted != shared_load(&consumer.file->header->flush_done)) {
            look_for_ends(now_ns);
            consumer.next_ends_ns = now_ns + ENDS_MS * MILLISECOND_NS;
        }
        hearing_look();
        flush_if_wanted(flush_wanted);
        if (may_end())
            break;
        if (!has_work)
            sleep_until_needed(seen);
    }
    rings_put_away();
    return 0;
}
