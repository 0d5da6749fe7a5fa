/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a run.
 */
#define _GNU_SOURCE
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "memtide/format.h"

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

/* memtide-train-20260131-235959-4711.memtide, with letters that are safe in any shell. */
static void default_name(const char *program, char *name, size_t name_bytes)
{
    const char *base = strrchr(program, '/');
    char safe[name_most], date[32];
    size_t length = 0;
    time_t now = time(NULL);
    struct tm parts;

    base = base ? base + 1 : program;
    for (; *base && length + 1 < sizeof(safe); base++)
        safe[length++] = strchr("+=:,!?*'\"\\()[]{}<>|&;$` \t\n", *base) ? '_' : *base;
    safe[length] = 0;
    localtime_r(&now, &parts);
    strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &parts);
    snprintf(name, name_bytes, "memtide-%s-%s-%d.memtide", safe, date, (int)getpid());
}

enum mt_result run_folder_make(const char *path, const char *program, char *full, size_t full_bytes,
                               struct mt_error *error)
{
    char name[128];
    char *resolved;

    if (!path) {
        default_name(program, name, sizeof(name));
        path = name;
    }
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return mt_error_set(error, MT_IO, "%s: the folder cannot be made: %s", path,
                            strerror(errno));
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

void run_folder_remove(const char *folder)
{
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
