/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line on the terminal while reading takes long.
 */
#include "waiting.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sentence.h"

enum { silent_seconds = 2 };

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool is_running, is_over;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void write_line(const char *line)
{
    (void)!write(STDERR_FILENO, line, strlen(line));
}

static void *tell(void *unused)
{
    unsigned seconds = silent_seconds;
    bool is_shown = false;
    struct timespec until;
    char line[80];

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += silent_seconds;
    pthread_mutex_lock(&waiting.lock);
    while (!waiting.is_over) {
        if (pthread_cond_timedwait(&waiting.over, &waiting.lock, &until) == 0)
            continue;
        snprintf(line, sizeof(line),
                 translated("\r\033[Kleaktide: reading the recording, %u s ..."), seconds++);
        write_line(line);
        is_shown = true;
        until.tv_sec++;
    }
    pthread_mutex_unlock(&waiting.lock);
    if (is_shown)
        write_line("\r\033[K");
    return unused;
}

void waiting_begin(void)
{
    pthread_condattr_t clock;

    if (waiting.is_running || !isatty(STDERR_FILENO))
        return;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&waiting.over, &clock);
    pthread_condattr_destroy(&clock);
    waiting.is_over = false;
    waiting.is_running = pthread_create(&waiting.thread, NULL, tell, NULL) == 0;
}

void waiting_end(void)
{
    if (!waiting.is_running)
        return;
    pthread_mutex_lock(&waiting.lock);
    waiting.is_over = true;
    pthread_cond_signal(&waiting.over);
    pthread_mutex_unlock(&waiting.lock);
    pthread_join(waiting.thread, NULL);
    pthread_cond_destroy(&waiting.over);
    waiting.is_running = false;
}
