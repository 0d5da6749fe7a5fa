/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a run.
 */
#define _GNU_SOURCE
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "leaktide/rings.h"
#include "option_values.h"
#include "path_text.h"
#include "sentence.h"

/* MT_FILE_NAME, for scanf. */
#define MT_FILE_NAME_READ "%" SCNu32 "-%" SCNx64

enum { processes_most = 512, name_most = 40 };

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool has_any = false;

    if (!folder)
        return false;
    while (!has_any && (entry = readdir(folder)))
        has_any = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return !has_any;
}

/* leaktide-train-20260131-235959-4711.leaktide, with letters that are safe in any shell. */
static void default_name(const char *program, char *name, size_t name_bytes)
{
    const char *base = path_base(program);
    char safe[name_most], date[32];
    size_t length = 0;
    time_t now = time(NULL);
    struct tm parts;

    for (; *base && length + 1 < sizeof(safe); base++)
        safe[length++] = strchr("+=:,!?*'\"\\()[]{}<>|&;$` \t\n", *base) ? '_' : *base;
    safe[length] = 0;
    localtime_r(&now, &parts);
    strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &parts);
    snprintf(name, name_bytes, "leaktide-%s-%s-%d.leaktide", safe, date, (int)getpid());
}

/* Recordings hold what a program does: nobody else may read or exchange them. */
static enum mt_result folder_check(const char *path, struct mt_error *error)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return mt_error_set(error, MT_IO, "%s: %s", path, strerror(errno));
    if (S_ISLNK(status.st_mode))
        return mt_error_set(error, MT_USAGE,
                            "%s is a link: name the folder itself, or one that is not there yet",
                            path);
    if (!S_ISDIR(status.st_mode))
        return mt_error_set(error, MT_USAGE, "%s is no folder: name another one", path);
    if (status.st_uid != geteuid())
        return mt_error_set(error, MT_USAGE,
                            "%s belongs to another user: name a folder that is not there yet",
                            path);
    if (status.st_mode & (S_IWGRP | S_IWOTH))
        return mt_error_set(error, MT_USAGE,
                            "%s may be written by other users: take that right away (chmod go-w), "
                            "or name a folder that is not there yet",
                            path);
    return MT_OK;
}

enum mt_result run_folder_make(const char *path, const char *program, char *full, size_t full_bytes,
                               struct mt_error *error)
{
    char name[128];
    char *resolved;
    enum mt_result result;

    if (!path) {
        default_name(program, name, sizeof(name));
        path = name;
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return mt_error_set(error, MT_IO, "%s: the folder cannot be made: %s", path,
                            strerror(errno));
    result = folder_check(path, error);
    if (result != MT_OK)
        return result;
    resolved = realpath(path, NULL);
    if (!resolved || strlen(resolved) >= full_bytes) {
        free(resolved);
        return mt_error_set(error, MT_IO, "%s: the folder's name cannot be used", path);
    }
    strcpy(full, resolved);
    free(resolved);
    if (!is_empty(full))
        return mt_error_set(error, MT_USAGE, "%s is there already and not empty: name a new folder",
                            path);
    return MT_OK;
}

/* A process that cannot have even one ring records nothing. */
bool run_folder_explain(const char *folder, char *out, size_t out_bytes)
{
    struct statvfs disk;
    uint64_t free_bytes;

    if (statvfs(folder, &disk) != 0)
        return false;
    free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (free_bytes > 2 * OPTION_RING_BYTES_USUAL)
        return false;
    snprintf(out, out_bytes,
             translated("the disk is full: %" PRIu64
                        " KiB are free for %s; name another folder with -o"),
             free_bytes >> 10, folder);
    return true;
}

/* The consumer has ended, and left run.rings for what it tells of losses. */
static bool rings_are_over(const char *path)
{
    struct mt_rings_header header;
    int rings = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    bool are_over = rings >= 0 &&
                    pread(rings, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
                    header.service == MT_RINGS_ENDED;

    if (rings >= 0)
        close(rings);
    return are_over;
}

void run_folder_remove(const char *folder)
{
    char path[PATH_MAX + sizeof(MT_RINGS_NAME)];

    snprintf(path, sizeof(path), "%s/%s", folder, MT_RINGS_NAME);
    if (rings_are_over(path))
        unlink(path);
    rmdir(folder);
}

static void add_process(struct run_state *state, const struct mt_file_header *header)
{
    bool is_recording = header->state == MT_FILE_RECORDING;

    state->process_count++;
    state->event_count += header->event_count;
    for (size_t i = 0; i < MT_LOST_KINDS; i++)
        state->lost_count += header->lost_counts[i];
    if (header->step_count > state->step_count)
        state->step_count = header->step_count;
    if (header->device_used_peak_bytes) {
        state->has_devices = true;
        state->now_bytes += is_recording ? header->device_used_bytes : 0;
        state->peak_bytes += header->device_used_peak_bytes;
    } else {
        state->now_bytes += is_recording ? header->rss_bytes : 0;
        if (header->rss_peak_bytes > state->peak_bytes)
            state->peak_bytes = header->rss_peak_bytes;
    }
}

static bool header_read(int folder, const char *name, struct mt_file_header *header)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    bool is_ok = file >= 0 && pread(file, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
                 memcmp(header->magic, MT_FILE_MAGIC, sizeof(header->magic)) == 0;

    if (file >= 0)
        close(file);
    return is_ok;
}

bool run_folder_look(const char *path, struct run_state *state)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    struct mt_file_header header;

    memset(state, 0, sizeof(*state));
    if (!folder)
        return false;
    while (state->process_count < processes_most && (entry = readdir(folder))) {
        size_t length = strlen(entry->d_name);

        if (length > 4 && strcmp(entry->d_name + length - 4, ".mtt") == 0 &&
            header_read(dirfd(folder), entry->d_name, &header))
            add_process(state, &header);
    }
    closedir(folder);
    return state->process_count > 0;
}

/* --- how it ended --------------------------------------------------------------------------- */

/* The newest trace of the process, opened; -1: it has none. */
static int newest_trace(DIR *folder, uint32_t process_id)
{
    const struct dirent *entry;
    char newest[NAME_MAX + 1] = "";
    uint64_t newest_start = 0;

    while ((entry = readdir(folder))) {
        uint32_t process;
        uint64_t start;
        int length = 0;

        if (sscanf(entry->d_name, MT_FILE_NAME_READ ".mtt%n", &process, &start, &length) != 2 ||
            !length || entry->d_name[length] || process != process_id || start < newest_start)
            continue;
        newest_start = start;
        snprintf(newest, sizeof(newest), "%s", entry->d_name);
    }
    return newest_start ? openat(dirfd(folder), newest, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
}

void run_folder_note_end(const char *path, uint32_t process_id, int status)
{
    const uint64_t end_status = MT_END_IS_KNOWN | (uint16_t)status;
    DIR *folder = opendir(path);
    int trace = folder ? newest_trace(folder, process_id) : -1;

    if (trace >= 0) {
        /* On a full disk it is not known, and that is all. */
        (void)!pwrite(trace, &end_status, sizeof(end_status),
                      offsetof(struct mt_file_header, end_status));
        close(trace);
    }
    if (folder)
        closedir(folder);
}

/* --- after the run ------------------------------------------------------------------------ */

/* The headers of a .rings file, one at a time; false after the last, or where there is none. */
static bool slot_read(int rings, off_t offset_bytes, struct mt_ring_header *slot)
{
    return pread(rings, slot, sizeof(*slot), offset_bytes) == (ssize_t)sizeof(*slot) &&
           slot->magic == MT_RING_MAGIC && slot->capacity_words &&
           slot->slot_bytes >= MT_RING_HEADER_BYTES && slot->slot_bytes <= INT32_MAX &&
           slot->head >= slot->tail && slot->head - slot->tail <= slot->capacity_words;
}

/* True when the file holds no word that is not in the trace. */
static bool rings_are_empty(int rings)
{
    struct mt_ring_header slot;
    off_t offset_bytes = 0;
    bool is_empty_now = true;
    struct stat status;

    while (slot_read(rings, offset_bytes, &slot)) {
        is_empty_now &= slot.head == slot.tail;
        offset_bytes += (off_t)slot.slot_bytes;
    }
    /* A slot that does not read back may hold anything: it is for the analyzer to say. */
    return is_empty_now && fstat(rings, &status) == 0 && offset_bytes >= status.st_size;
}

static bool process_is_gone(int trace)
{
    struct mt_file_header header;

    if (pread(trace, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
        return false;
    return kill((pid_t)header.process_id, 0) != 0 && errno == ESRCH;
}

static void rings_tidy(int folder, const char *rings_name)
{
    char trace_name[NAME_MAX + 1];
    size_t length = strlen(rings_name) - strlen(".rings");
    int trace, rings;

    snprintf(trace_name, sizeof(trace_name), "%.*s.mtt", (int)length, rings_name);
    trace = openat(folder, trace_name, O_RDONLY | O_CLOEXEC);
    rings = openat(folder, rings_name, O_RDONLY | O_CLOEXEC);
    if (trace >= 0 && rings >= 0 && process_is_gone(trace) && rings_are_empty(rings))
        unlinkat(folder, rings_name, 0);
    if (trace >= 0)
        close(trace);
    if (rings >= 0)
        close(rings);
}

void run_folder_tidy(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        const char *dot = strrchr(entry->d_name, '.');

        if (dot && strcmp(dot, ".rings") == 0)
            rings_tidy(dirfd(folder), entry->d_name);
    }
    if (folder)
        closedir(folder);
}
