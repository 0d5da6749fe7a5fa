/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line on the terminal while reading takes long.
 */
#include "waiting.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "sentence.h"
#include "text_builder.h"

enum { silent_ms = 1000, again_ms = 250 };

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool is_running, is_over;
    struct mt_progress progress; /* of the reading that goes on */
    struct timespec began, reading_began;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double seconds_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

bool waiting_note(void *context, const struct mt_progress *progress)
{
    (void)context;
    pthread_mutex_lock(&waiting.lock);
    if (progress->reading != waiting.progress.reading)
        clock_gettime(CLOCK_MONOTONIC, &waiting.reading_began);
    waiting.progress = *progress;
    pthread_mutex_unlock(&waiting.lock);
    return true;
}

/* "12,345,678 events, 3,100,000 a second": nothing before the first. */
static void add_events(struct text_builder *line, double seconds)
{
    uint64_t events = waiting.progress.event_count;

    if (!events)
        return;
    text_add(line, ", ");
    text_add_count(line, events);
    text_add(line, translated(" events"));
    if (seconds < 0.1)
        return;
    text_add(line, ", ");
    text_add_count(line, (uint64_t)((double)events / seconds));
    text_add(line, translated(" a second"));
}

/* Where it is known how many there are: "40 %, 5 s left". */
static void add_share(struct text_builder *line, double seconds)
{
    uint64_t events = waiting.progress.event_count, all = waiting.progress.expected_count;

    if (!events || events > all)
        return;
    text_add_sentence(line, ", %u %%, %.0f s left", (unsigned)((double)events * 100 / (double)all),
                      seconds * (double)(all - events) / (double)events);
}

void waiting_show(const struct text_builder *line)
{
    struct winsize size = {.ws_col = 0};
    size_t shown = line->size_bytes;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col)
        size.ws_col = 80;
    if (shown >= size.ws_col)
        shown = size.ws_col - 1U;
    (void)!write(STDERR_FILENO, "\r\033[K", 4);
    (void)!write(STDERR_FILENO, text_get(line), shown);
}

static void show_line(void)
{
    double seconds = seconds_since(&waiting.reading_began);
    struct text_builder line;

    text_init(&line);
    text_add_sentence(&line, "leaktide: reading, %.0f s", seconds_since(&waiting.began));
    if (waiting.progress.reading > 1)
        text_add_sentence(&line, ", time %u", waiting.progress.reading);
    add_events(&line, seconds);
    add_share(&line, seconds);
    waiting_show(&line);
    text_release(&line);
}

static void add_ms(struct timespec *time, long ms)
{
    time->tv_nsec += ms % 1000 * 1000000;
    time->tv_sec += ms / 1000 + time->tv_nsec / 1000000000;
    time->tv_nsec %= 1000000000;
}

static void *tell(void *unused)
{
    bool is_shown = false;
    struct timespec until = waiting.began;

    add_ms(&until, silent_ms);
    pthread_mutex_lock(&waiting.lock);
    while (!waiting.is_over) {
        if (pthread_cond_timedwait(&waiting.over, &waiting.lock, &until) == 0)
            continue;
        show_line();
        is_shown = true;
        add_ms(&until, again_ms);
    }
    pthread_mutex_unlock(&waiting.lock);
    if (is_shown)
        (void)!write(STDERR_FILENO, "\r\033[K", 4);
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
    waiting.progress = (struct mt_progress){.event_count = 0};
    clock_gettime(CLOCK_MONOTONIC, &waiting.began);
    waiting.reading_began = waiting.began;
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
