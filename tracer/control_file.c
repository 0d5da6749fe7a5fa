/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches a file: when it changes, what it asks for holds from then on.
 */
#define _GNU_SOURCE
#include "control_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control.h"
#include "json_scan.h"
#include "recorder.h"

enum { FILE_BYTES = 16 * 1024, LOOK_EVERY = 10 /* ticks */ };

struct control_wish control_wish_read(const char *json, int64_t rank)
{
    struct control_wish wish = {.is_wanted = true};
    int64_t start = 0, stop = 0, active = 0, warmup = 0;
    bool has_ranks = false, is_by_rank = true, is_listed, is_on = true;

    json_flag(json, "is_rank", &is_by_rank);
    is_listed = json_list_has(json, "rank_list", rank, &has_ranks);
    if (is_by_rank && has_ranks && !is_listed)
        wish.is_wanted = false;
    if ((json_flag(json, "profile_memory", &is_on) && !is_on) ||
        (json_flag(json, "start", &is_on) && !is_on))
        wish.is_wanted = false;
    if (!json_number(json, "start_step", &start) || start < 0)
        return wish;
    json_number(json, "warmup", &warmup);
    wish.first_step = (uint64_t)start + (uint64_t)(warmup > 0 ? warmup : 0);
    wish.first_step += !wish.first_step; /* they count from 0 as well */
    wish.last_step = UINT64_MAX;
    if (json_number(json, "active", &active) && active > 0)
        wish.last_step = wish.first_step + (uint64_t)active - 1;
    else if (json_number(json, "stop_step", &stop) && stop >= (int64_t)wish.first_step)
        wish.last_step = (uint64_t)stop;
    return wish;
}

static int64_t own_rank(void)
{
    static const char *const names[] = {"RANK", "RANK_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return strtoll(value, NULL, 10);
    }
    return -1;
}

void control_file_obey(const char *json)
{
    struct control_wish wish = control_wish_read(json, own_rank());
    uint64_t step = recorder_newest_step();

    if (!wish.is_wanted) {
        recorder_choose_steps(0, 0);
        recorder_pause(true);
        return;
    }
    recorder_choose_steps(wish.first_step, wish.last_step);
    recorder_pause(wish.first_step && (step < wish.first_step || step > wish.last_step));
}

static void read_and_obey(const char *path)
{
    static char text[FILE_BYTES]; /* one thread */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;

    if (file >= 0)
        close(file);
    if (size <= 0)
        return;
    text[size] = 0;
    control_file_obey(text);
}

void control_file_tick(const char *path)
{
    static struct timespec seen;
    static unsigned ticks;
    struct stat status;

    if (ticks++ % LOOK_EVERY || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    if (status.st_mtim.tv_sec == seen.tv_sec && status.st_mtim.tv_nsec == seen.tv_nsec)
        return;
    seen = status.st_mtim;
    read_and_obey(path);
}
