/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "recorded.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "account_taker.h"
#include "clock.h"
#include "resident.h"

/* --- who it is for the kernel -------------------------------------------------------------- */

/* /proc/<process>/<name>, as far as there is room; "" where it cannot be read. */
static void proc_read(const char *process, const char *name, char *text, size_t text_bytes)
{
    char path[64];
    int file;
    ssize_t size;

    snprintf(path, sizeof(path), "/proc/%.20s/%s", process, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    size = file >= 0 ? read(file, text, text_bytes - 1) : -1;
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = 0;
}

/* The last number of "NSpid:", of a process in the name space: it counts from outside to inside. */
static bool is_in_name_space(const char *name, uint64_t name_space, uint32_t inner_id)
{
    char path[64], text[4096], *line, *last = NULL, *end;

    snprintf(path, sizeof(path), "/proc/%.20s/ns/pid", name);
    if (pid_name_space(path) != name_space)
        return false;
    proc_read(name, "status", text, sizeof(text));
    line = strstr(text, "\nNSpid:");
    if (!line)
        return false;
    line[1 + strcspn(line + 1, "\n")] = 0;
    last = strrchr(line, '\t');
    return last && strtoul(last, &end, 10) == inner_id;
}

static pid_t find_in_name_space(uint64_t name_space, uint32_t inner_id, uint32_t *heartbeat)
{
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    pid_t found = 0;

    while (processes && !found && (entry = readdir(processes))) {
        __atomic_fetch_add(heartbeat, 1, __ATOMIC_RELAXED);
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            is_in_name_space(entry->d_name, name_space, inner_id))
            found = (pid_t)atoi(entry->d_name);
    }
    if (processes)
        closedir(processes);
    return found;
}

enum { PROCESS_ID_MAX = 1 << 22 }; /* of every kernel */

static pid_t outer_id(const struct mt_rings_process *place, uint32_t *heartbeat)
{
    /* It could not say: its number may be anybody's here, or that of all processes (-1). */
    if (!place->pid_namespace || !place->process_id || place->process_id > PROCESS_ID_MAX)
        return 0;
    if (place->pid_namespace == pid_name_space(OWN_PID_NAME_SPACE))
        return (pid_t)place->process_id;
    return find_in_name_space(place->pid_namespace, place->process_id, heartbeat);
}

static int open_statm(pid_t process)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/statm", (int)process);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* --- begin and end ------------------------------------------------------------------------- */

/* It comes from the process: names of files are made of it, and times of all that it recorded. */
static bool header_is_right(const struct mt_file_header *header)
{
    return memcmp(header->magic, MT_FILE_MAGIC, sizeof(header->magic)) == 0 &&
           header->checksum == XXH64(header, offsetof(struct mt_file_header, checksum), 0) &&
           header->time_shift <= 31;
}

bool recorded_make_trace(struct recorded *recorded, const char *folder)
{
    struct mt_rings_process *place = recorded->place;
    struct mt_file_header described = place->header;
    char path[sizeof(recorded->trace.file.path)];
    bool is_made = header_is_right(&described) &&
                   trace_file_name(path, sizeof(path), folder, &described, ".mtt") &&
                   (trace_file_create(&recorded->trace, path, &described) ||
                    (errno == EEXIST && trace_file_resume(&recorded->trace, path, &described)));

    __atomic_store_n(&place->is_refused, !is_made, __ATOMIC_RELEASE);
    if (is_made)
        own_stream_begin(&recorded->stream,
                         __atomic_fetch_add(&place->stream_count, 1, __ATOMIC_RELAXED));
    return is_made;
}

struct recorded *recorded_open(struct mt_rings_process *place, uint32_t number, uint32_t *heartbeat)
{
    struct recorded *recorded = calloc(1, sizeof(*recorded));

    if (!recorded)
        return NULL;
    recorded->number = number;
    recorded->place = place;
    recorded->trace.heartbeat = heartbeat;
    recorded->listening = recorded->statm = recorded->process_descriptor = -1;
    recorded->account.cgroup.folder = -1;
    recorded->process_id = outer_id(place, heartbeat);
    if (recorded->process_id) {
        recorded->process_descriptor = (int)syscall(SYS_pidfd_open, recorded->process_id, 0);
        recorded->statm = open_statm(recorded->process_id);
    }
    return recorded;
}

enum { FIELDS_BEFORE_THREADS = 17 }; /* of /proc/PID/stat, from the state on */

/*
 * Older kernels have no descriptors of processes. A process that nobody waited for has ended as
 * well, unless only its first thread did.
 */
static bool is_gone(pid_t process)
{
    char number[16], text[1024], *field;

    if (kill(process, 0) != 0 && errno == ESRCH)
        return true;
    snprintf(number, sizeof(number), "%d", (int)process);
    proc_read(number, "stat", text, sizeof(text));
    field = strrchr(text, ')');
    if (!field || (field[2] != 'Z' && field[2] != 'X'))
        return false;
    field += 2;
    for (int i = 0; field && i < FIELDS_BEFORE_THREADS; i++)
        field = strchr(field + 1, ' ');
    return !field || strtoul(field, NULL, 10) <= 1;
}

bool recorded_look_for_end(struct recorded *recorded)
{
    struct pollfd end = {.fd = recorded->process_descriptor, .events = POLLIN};

    if (recorded->is_over || !recorded->process_id)
        return recorded->is_over;
    if (recorded->process_descriptor >= 0)
        recorded->is_over = poll(&end, 1, 0) > 0;
    else
        recorded->is_over = is_gone(recorded->process_id);
    return recorded->is_over;
}

/* What it has of us: as looked at once, and what our tables took since then. */
static uint64_t own_bytes(struct recorded *recorded)
{
    uint64_t filled_bytes = __atomic_load_n(&recorded->place->own_bytes, __ATOMIC_RELAXED);
    struct own_memory_of own;
    char folder[64];

    if (!recorded->own_bytes && recorded->process_id) {
        own_memory_read(recorded->place, &own);
        snprintf(folder, sizeof(folder), "/proc/%d", (int)recorded->process_id);
        recorded->own_bytes =
            account_recorder_bytes(folder, &(struct account_own){own.ranges, MT_RINGS_OWN_RANGES});
        recorded->own_filled_bytes = filled_bytes;
    }
    return recorded->own_bytes + filled_bytes - recorded->own_filled_bytes;
}

void recorded_sample_now(struct recorded *recorded)
{
    struct mt_file_header *header = recorded->trace.header;
    uint64_t resident = resident_bytes(recorded->statm), own = own_bytes(recorded);

    header->last_monotonic_ns = clock_now_ns(CLOCK_MONOTONIC);
    header->last_ticks = clock_ticks();
    if (own < resident)
        resident -= own;
    if (!resident ||
        __atomic_load_n(&recorded->place->attention, __ATOMIC_RELAXED) & MT_ATTENTION_PAUSED)
        return;
    peak_raise(&header->rss_bytes, &header->rss_peak_bytes, resident);
    own_stream_sample(&recorded->stream, RESIDENT_COUNTER, resident);
}

void recorded_sample(struct recorded *recorded, uint64_t now_ns)
{
    uint64_t period_ns = recorded->place->facts.sample_ms * MILLISECOND_NS;

    if (!period_ns || now_ns < recorded->next_sample_ns)
        return;
    recorded->next_sample_ns = now_ns + period_ns;
    recorded_sample_now(recorded);
    __atomic_store_n(&recorded->place->counters_wanted, UINT32_MAX, __ATOMIC_RELAXED);
}

void recorded_publish(struct recorded *recorded)
{
    const struct mt_rings_process *place = recorded->place;
    struct mt_file_header *trace = recorded->trace.header;
    struct mt_file_header *told = &recorded->place->header;

    for (size_t i = 0; i < MT_LOST_KINDS; i++)
        trace->lost_counts[i] = __atomic_load_n(&told->lost_counts[i], __ATOMIC_RELAXED) +
                                __atomic_load_n(&place->consumer_lost_counts[i], __ATOMIC_RELAXED);
    trace->step_count = told->step_count;
    trace->device_used_bytes = told->device_used_bytes;
    trace->device_used_peak_bytes = told->device_used_peak_bytes;
    trace->no_stack_count = told->no_stack_count;
    trace->stack_restart_count = told->stack_restart_count;
    trace->unread_python = told->unread_python;
    trace->unseen_python = told->unseen_python;
    trace->told_steps = told->told_steps;
    trace->address_limit_bytes = told->address_limit_bytes;
    trace->data_limit_bytes = told->data_limit_bytes;
    trace->machine_bytes = told->machine_bytes;
    told->event_count = trace->event_count;
    told->rss_bytes = trace->rss_bytes;
    told->rss_peak_bytes = trace->rss_peak_bytes;
    trace_file_tell(&recorded->trace);
}

static void descriptor_close(int descriptor)
{
    if (descriptor >= 0)
        close(descriptor);
}

uint64_t recorded_close(struct recorded *recorded)
{
    uint64_t untold_count = 0;

    if (recorded_has_trace(recorded)) {
        recorded_publish(recorded);
        trace_file_finish(&recorded->trace);
        trace_file_close(&recorded->trace);
    } else {
        for (size_t i = 0; i < MT_LOST_KINDS; i++)
            untold_count += recorded->place->header.lost_counts[i];
    }
    descriptor_close(recorded->process_descriptor);
    descriptor_close(recorded->statm);
    descriptor_close(recorded->listening);
    cgroup_watch_close(&recorded->account.cgroup);
    free(recorded);
    return untold_count;
}
