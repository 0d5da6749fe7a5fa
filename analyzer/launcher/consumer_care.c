/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "consumer_care.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bus_errors.h"
#include "clock.h"
#include "consumer.h"
#include "owner.h"

enum {
    SLICE_MS = 50,
    NAP_US = 100,
    LOOKS = 8, /* of a consumer that could end: then somebody is there again */
    END_PATIENCE_MS = 5000,
    THREADS_MOST = 8,         /* of a consumer */
    DEATHS_MOST = 1000,       /* of consumers; then something is wrong that will not go away */
    FLUSH_PATIENCE_MS = 60000 /* without a sign of life */
};

enum { NICE_STEP = 5, NICE_LEAST = -10 }; /* of a consumer that gets no processor */

/* So long a thread of the program waits for a consumer that does nothing: docs/recorder.md. */
static const uint32_t patience_ms[MT_CONSUMER_STATES] = {
    [MT_CONSUMER_READY] = 600000,
    [MT_CONSUMER_WAITS] = 60000,
    [MT_CONSUMER_STOPPED] = 30000, /* LEAKTIDE_STOPPED_SECONDS says else */
    [MT_CONSUMER_DEAD] = 30000,
};

struct consumer_care {
    struct consumer_setup setup;
    pid_t child;
    uint32_t deaths;
    uint32_t heartbeat;           /* of the last look */
    uint64_t looked_ns, ready_ns; /* then: the time; how long it had been ready in all */
};

/* A fork that fails counts as a death: it is tried again by consumer_care_look. */
static void start(struct consumer_care *care)
{
    care->looked_ns = 0;
    care->child = fork();
    if (care->child == 0)
        _exit(consumer_run(&care->setup));
    care->deaths += care->child < 0;
}

bool consumer_care_is_missing(const struct consumer_care *care)
{
    return care && care->child < 0 && care->deaths < DEATHS_MOST;
}

/* --- how it is ------------------------------------------------------------------------------ */

/* /proc/<process>/<name>, as far as there is room; "" where it cannot be read. */
static void proc_read(pid_t process, const char *name, char *text, size_t text_bytes)
{
    char path[64];
    int file;
    ssize_t size;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)process, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    size = file >= 0 ? read(file, text, text_bytes - 1) : -1;
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = 0;
}

/* The letter of its state; 0: it cannot be read. */
static char kernel_state(pid_t process)
{
    char text[256], *end;

    proc_read(process, "stat", text, sizeof(text));
    end = strrchr(text, ')');
    return end && end[1] == ' ' ? end[2] : 0;
}

/* How long its first thread was ready and did not run, in all; 0: it cannot be read. */
static uint64_t ready_ns(pid_t process)
{
    char text[128], *end;

    proc_read(process, "schedstat", text, sizeof(text));
    strtoull(text, &end, 10); /* what it ran */
    return strtoull(end, NULL, 10);
}

/* Of one that did nothing since the last look. */
static enum mt_rings_consumer state_of_idle(pid_t process)
{
    switch (kernel_state(process)) {
    case 0:
        return MT_CONSUMER_UNWATCHED;
    case 'R':
        return MT_CONSUMER_READY;
    case 'T':
    case 't':
        return MT_CONSUMER_STOPPED;
    default:
        return MT_CONSUMER_WAITS;
    }
}

/*
 * All of its threads become more urgent; and its session, where the kernel shares the processors
 * among sessions first. Where we may not do that, they stay as they are.
 */
static void priority_raise(pid_t process)
{
    int now = getpriority(PRIO_PROCESS, (id_t)process);
    int wanted = now - NICE_STEP > NICE_LEAST ? now - NICE_STEP : NICE_LEAST;
    char path[64], text[16];
    int file, size = snprintf(text, sizeof(text), "%d", wanted);

    if (now <= NICE_LEAST || setpriority(PRIO_PGRP, (id_t)process, wanted) != 0)
        return;
    snprintf(path, sizeof(path), "/proc/%d/autogroup", (int)process);
    file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return;
    (void)!write(file, text, (size_t)size);
    close(file);
}

/* Was it ready for most of the time since the last look, and did not run? */
static bool is_starved(struct consumer_care *care)
{
    uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), ready = ready_ns(care->child);
    bool is_starved = care->looked_ns && ready > care->ready_ns &&
                      ready - care->ready_ns > (now_ns - care->looked_ns) / 2;

    care->looked_ns = now_ns;
    care->ready_ns = ready;
    return is_starved;
}

/* Tells the writers. */
static void tell_state(struct consumer_care *care)
{
    struct mt_rings_header *header = care->setup.file.header;
    uint32_t heartbeat = shared_load(&header->heartbeat);
    enum mt_rings_consumer state = MT_CONSUMER_READY;

    if (care->child < 0)
        state = consumer_care_is_missing(care) ? MT_CONSUMER_DEAD : MT_CONSUMER_GONE;
    else if (heartbeat == care->heartbeat)
        state = state_of_idle(care->child);
    if (care->child >= 0 && is_starved(care))
        priority_raise(care->child);
    care->heartbeat = heartbeat;
    shared_store(&header->consumer_state, state);
    __atomic_fetch_add(&header->launcher_beat, 1, __ATOMIC_RELEASE);
}

void consumer_care_look(struct consumer_care *care)
{
    if (!care)
        return;
    if (consumer_care_is_missing(care))
        start(care);
    tell_state(care);
}

/* Before there are writers. */
static void begin_to_watch(struct mt_rings_header *header)
{
    const char *wanted = getenv("LEAKTIDE_STOPPED_SECONDS");
    unsigned long seconds = wanted ? strtoul(wanted, NULL, 10) : 0;

    memcpy(header->patience_ms, patience_ms, sizeof(patience_ms));
    if (wanted)
        header->patience_ms[MT_CONSUMER_STOPPED] =
            seconds < UINT32_MAX / 1000 ? (uint32_t)seconds * 1000 : UINT32_MAX;
    header->consumer_state = MT_CONSUMER_READY;
    owner_lock((pthread_mutex_t *)&header->launcher);
}

/* --- begin and end --------------------------------------------------------------------------- */

/* A limit of file sizes is met by an error, not by the end of the launcher. */
static int rings_create(struct rings_file *file, const char *folder, uint64_t ring_bytes,
                        uint64_t run_id)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    char path[1200];
    int descriptor;

    snprintf(path, sizeof(path), "%s/%s", folder, MT_RINGS_NAME);
    sigaction(SIGXFSZ, &ignore, &before);
    descriptor = rings_file_create(file, path, ring_bytes, run_id);
    sigaction(SIGXFSZ, &before, NULL);
    return descriptor;
}

/* Half of the processors, the consumer's first thread counted; LEAKTIDE_CONSUMER_THREADS says else.
 */
static uint32_t worker_max(void)
{
    const char *wanted = getenv("LEAKTIDE_CONSUMER_THREADS");
    long threads = wanted ? strtol(wanted, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN) / 2;

    if (threads > THREADS_MOST)
        threads = THREADS_MOST;
    return threads > 1 ? (uint32_t)threads - 1 : 0;
}

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = NAP_US * 1000L};

    nanosleep(&pause, NULL);
}

/* A consumer that does something hears who asks for the rings. */
static void wait_for_first_beat(const struct consumer_care *care)
{
    const uint32_t *heartbeat = &care->setup.file.header->heartbeat;

    for (int left = END_PATIENCE_MS * 1000 / NAP_US; left > 0 && care->child > 0; left--) {
        if (shared_load(heartbeat))
            return;
        nap();
    }
}

struct consumer_care *consumer_care_begin(const char *folder, uint64_t ring_bytes, uint64_t run_id)
{
    struct consumer_care *care = calloc(1, sizeof(*care));

    if (!care)
        return NULL;
    care->setup.folder = folder;
    care->setup.launcher = getpid();
    care->setup.worker_max = worker_max();
    care->setup.descriptor = rings_create(&care->setup.file, folder, ring_bytes, run_id);
    if (care->setup.descriptor < 0) {
        free(care);
        return NULL;
    }
    bus_errors_survive(); /* the consumer, too */
    begin_to_watch(care->setup.file.header);
    start(care);
    if (rings_file_is_memory(care->setup.descriptor))
        wait_for_first_beat(care);
    return care;
}

bool consumer_care_child_ended(struct consumer_care *care, pid_t child)
{
    if (!care || child != care->child)
        return false;
    care->child = -1;
    care->deaths++;
    consumer_care_look(care);
    return true;
}

/* Died meanwhile? */
static void look_after(struct consumer_care *care)
{
    if (care->child > 0 && waitpid(care->child, NULL, WNOHANG) == care->child)
        consumer_care_child_ended(care, care->child);
    consumer_care_look(care);
}

/* Not where somebody cut the file: what is there then is memory, or zeros. */
static bool are_whole(const struct mt_rings_header *header)
{
    return !bus_errors_came() && memcmp(header->magic, MT_RINGS_MAGIC, sizeof(header->magic)) == 0;
}

/* False: the consumer gave no sign of life for long, or could give none. */
static bool flush(struct consumer_care *care)
{
    struct mt_rings_header *header = care->setup.file.header;
    uint32_t wanted = __atomic_add_fetch(&header->flush_wanted, 1, __ATOMIC_SEQ_CST), done;
    uint32_t heartbeat = shared_load(&header->heartbeat), quiet_ms = 0;

    while ((done = shared_load(&header->flush_done)) != wanted && quiet_ms < FLUSH_PATIENCE_MS &&
           are_whole(header) && (care->child > 0 || consumer_care_is_missing(care))) {
        rings_file_wake_consumer(&care->setup.file);
        shared_wait(&header->flush_done, done, SLICE_MS * MILLISECOND_NS);
        look_after(care);
        quiet_ms = shared_load(&header->heartbeat) == heartbeat ? quiet_ms + SLICE_MS : 0;
        heartbeat = shared_load(&header->heartbeat);
    }
    return done == wanted;
}

/*
 * The last process is gone: so is the consumer, soon. Unless one has come since, for which it goes
 * on. Returns how many there are.
 */
static uint32_t wait_for_end(struct consumer_care *care)
{
    const uint32_t *heartbeat = &care->setup.file.header->heartbeat;
    uint32_t before = shared_load(heartbeat);

    for (int left = END_PATIENCE_MS * 1000 / NAP_US; left > 0; left--) {
        if (care->child <= 0 || waitpid(care->child, NULL, WNOHANG) != 0)
            return 0;
        if (shared_load(heartbeat) - before > LOOKS && rings_file_live_count(&care->setup.file))
            break;
        rings_file_wake_consumer(&care->setup.file);
        nap();
    }
    return rings_file_live_count(&care->setup.file);
}

struct consumer_care_end consumer_care_end(struct consumer_care *care)
{
    struct mt_rings_header *header = care->setup.file.header;
    bool is_flushed = flush(care);
    struct consumer_care_end end = {
        .live_count = is_flushed ? shared_load(&header->live_count) : 0,
    };

    __atomic_store_n(&header->is_launcher_done, 1, __ATOMIC_SEQ_CST);
    rings_file_wake_consumer(&care->setup.file);
    if (is_flushed && !end.live_count)
        end.live_count = wait_for_end(care);
    memcpy(end.left_out_count, header->left_out_count, sizeof(end.left_out_count));
    close(care->setup.descriptor); /* what is mapped stays: the kernel marks it when we end */
    bus_errors_as_before();
    free(care);
    return end;
}
