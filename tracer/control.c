/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that a recording obeys.
 */
#define _GNU_SOURCE
#include "control.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call_stacks.h"
#include "config.h"
#include "drain.h"
#include "guard.h"
#include "recorder.h"
#include "recording.h"
#include "sampler.h"
#include "watch.h"

enum { WORD_BYTES = 32, LINE_BYTES = 1024 };

struct answer {
    char *text;
    size_t bytes;
};

static void say(const struct answer *answer, const char *word, const char *rest)
{
    snprintf(answer->text, answer->bytes, "%s%s%s\n", word, *rest ? " " : "", rest);
}

/* Marks of this name are rows of the system in the files of msmemscope. */
static void mark_change(const char *name)
{
    record_mark(text_of(name), text_of("memtide"));
}

static void obey_start(const char *rest, const struct answer *answer)
{
    (void)rest;
    recorder_choose_steps(0, 0);
    recorder_pause(false);
    mark_change("START_TRACE");
    say(answer, "ok", "recording");
}

static void obey_stop(const char *rest, const struct answer *answer)
{
    (void)rest;
    mark_change("STOP_TRACE");
    recorder_choose_steps(0, 0);
    recorder_pause(true);
    say(answer, "ok", "paused");
}

/* The step that was begun here before ends first; others end by themselves. */
static void obey_step(const char *rest, const struct answer *answer)
{
    static _Atomic uint64_t open_step;
    char text[WORD_BYTES];
    uint64_t before = atomic_exchange(&open_step, 0);

    (void)rest;
    if (before)
        record_step_end(before);
    atomic_store(&open_step, record_step_begin(0));
    snprintf(text, sizeof(text), "step %" PRIu64, recorder_newest_step());
    say(answer, "ok", text);
}

static void obey_snapshot(const char *rest, const struct answer *answer)
{
    sampler_tick();
    record_mark(text_of(*rest ? rest : "Memory Snapshot"), text_of("memtide"));
    drain_all();
    recording_calibrate();
    say(answer, "ok", "all that is recorded is on disk");
}

static void obey_status(const char *rest, const struct answer *answer)
{
    const struct mt_file_header *header = recording_header();
    uint64_t lost_count = 0;

    (void)rest;
    for (size_t i = 0; header && i < MT_LOST_KINDS; i++)
        lost_count += header->lost_counts[i];
    snprintf(answer->text, answer->bytes,
             "ok %s\nprocess %d\nevents %" PRIu64 " on disk\nlost %" PRIu64 "\nstep %" PRIu64
             "\nresident %" PRIu64 " B, peak %" PRIu64 " B\ndevices %" PRIu64 " B, peak %" PRIu64
             " B\nfolder %s\n",
             recorder_is_paused() ? "paused" : "recording", (int)getpid(),
             header ? header->event_count : 0, lost_count, recorder_newest_step(),
             header ? header->rss_bytes : 0, header ? header->rss_peak_bytes : 0,
             header ? header->device_used_bytes : 0, header ? header->device_used_peak_bytes : 0,
             config_get()->output_path);
}

/* "all", "7" or "3-5". */
static const char *set_steps(const char *value)
{
    static const char wrong[] = "steps are all, a number, or two with a - between";

    char *end;
    uint64_t first, last;

    if (strcmp(value, "all") == 0) {
        recorder_choose_steps(0, 0);
        recorder_pause(false);
        return NULL;
    }
    first = last = strtoull(value, &end, 10);
    if (*end == '-')
        last = strtoull(end + 1, &end, 10);
    if (!first || last < first || *end || *value < '0' || *value > '9')
        return wrong;
    recorder_choose_steps(first, last);
    recorder_pause(recorder_newest_step() < first || recorder_newest_step() > last);
    return NULL;
}

/* ADDRESS BYTES TIMES NAME: a tensor of the program; TIMES -1: always. */
static void obey_watch(const char *rest, const struct answer *answer)
{
    unsigned long long address, size_bytes;
    long long dumps;
    int name = 0;

    if (sscanf(rest, "%llu %llu %lld %n", &address, &size_bytes, &dumps, &name) != 3 || !name ||
        !rest[name])
        say(answer, "error: watch needs an address, bytes, a number of times and a name", "");
    else if (watch_add(&(struct watched_range){address, size_bytes, dumps, text_of(rest + name)}))
        say(answer, "ok", "watched");
    else
        say(answer, "error: not a tensor, or there are too many", "");
}

static void obey_unwatch(const char *rest, const struct answer *answer)
{
    if (watch_remove(strtoull(rest, NULL, 10)))
        say(answer, "ok", "no longer watched");
    else
        say(answer, "error: no tensor at that address is watched", "");
}

/* --- what can be set ---------------------------------------------------------------------------
 *
 * Each answers NULL, or a sentence that says why not.
 */

static const char *set_events(const char *value)
{
    return config_set_events(value) ? NULL : "events are alloc, free, launch, access";
}

static const char *set_level(const char *value)
{
    return config_set_level(value) ? NULL : "levels are op, kernel";
}

static const char *set_watch(const char *value)
{
    return watch_choose(value) ? NULL : "watch is [START[:N]],END[,full-content]";
}

static const char *set_call_stack(const char *value)
{
    struct config_frames frames;

    if (!config_read_frames(value, &frames))
        return "call-stack is none, or c[:N], python[:N] with N up to 1000";
    switch (call_stacks_set_frames(frames.native, frames.python)) {
    case CALL_STACKS_ARE_OFF:
        return "this recording began without call stacks; begin it with --call-stack=c:1 to have "
               "more later";
    case CALL_STACKS_HAVE_NO_PYTHON:
        return "this recording began without stacks of Python; begin it with "
               "--call-stack=c,python:1 to have more later";
    default:
        return NULL;
    }
}

static const char *set_collect_mode(const char *value)
{
    bool is_deferred = strcmp(value, "deferred") == 0;

    if (!is_deferred && strcmp(value, "immediate") != 0)
        return "collect-mode is immediate or deferred";
    recorder_choose_steps(0, 0);
    recorder_pause(is_deferred);
    return NULL;
}

/* Only of devices: the heap of the host is hooked, or it is not. */
static const char *set_device(const char *value)
{
    uint64_t devices;
    bool has_host;

    if (!config_read_devices(value, &devices, &has_host))
        return "devices are npu, npu:N, gpu, opencl, N up to 63";
    if (has_host != config_get()->records_host)
        return has_host ? "cpu cannot come later; begin the recording with --device=npu,cpu"
                        : "cpu cannot go; name it as well";
    recorder_choose_devices(devices ? devices : UINT64_MAX);
    return NULL;
}

/* What analyses need is recorded; they are made of the recording. */
static const char *set_analysis(const char *value)
{
    static const struct {
        const char *name;
        const char *events; /* that it needs */
    } known[] = {{"leaks", NULL},
                 {"oom", NULL},
                 {"none", NULL},
                 {"", NULL},
                 {"decompose", "alloc,free,access"},
                 {"inefficient", "alloc,free,access,launch"}};
    const char *events = NULL;

    for (const char *rest = value; rest;) {
        size_t length = strcspn(rest, ",:"), i = 0;

        while (i < sizeof(known) / sizeof(known[0]) &&
               (strlen(known[i].name) != length || strncmp(known[i].name, rest, length) != 0))
            i++;
        if (i == sizeof(known) / sizeof(known[0]))
            return strncmp(rest, "host-leaks", 10) == 0
                       ? "host-leaks cannot come later; begin the recording with it"
                       : "analyses are leaks, decompose, inefficient, oom, none";
        if (known[i].events && (!events || strlen(known[i].events) > strlen(events)))
            events = known[i].events;
        rest = strchr(rest, ',');
        rest += rest != NULL;
    }
    if (events)
        config_set_events(events);
    return NULL;
}

static void obey_set(const char *rest, const struct answer *answer)
{
    static const struct {
        const char *name;
        const char *(*set)(const char *value);
    } settings[] = {
        {"events=", set_events},     {"steps=", set_steps},
        {"level=", set_level},       {"call-stack=", set_call_stack},
        {"device=", set_device},     {"collect-mode=", set_collect_mode},
        {"analysis=", set_analysis}, {"watch=", set_watch},
    };

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        size_t length = strlen(settings[i].name);
        const char *why;

        if (strncmp(rest, settings[i].name, length) != 0)
            continue;
        why = settings[i].set(rest + length);
        if (why)
            say(answer, "error:", why);
        else
            say(answer, "ok", rest);
        return;
    }
    say(answer,
        "error: events, steps, level, call-stack, device, collect-mode, analysis and watch can be "
        "set while a program runs; the rest belongs to the command line",
        "");
}

void control_obey(char *line, char *answer_text, size_t answer_bytes)
{
    static const struct {
        const char *word;
        void (*obey)(const char *rest, const struct answer *answer);
    } words[] = {
        {"start", obey_start},       {"stop", obey_stop},       {"step", obey_step},
        {"snapshot", obey_snapshot}, {"status", obey_status},   {"set", obey_set},
        {"watch", obey_watch},       {"unwatch", obey_unwatch},
    };
    const struct answer answer = {answer_text, answer_bytes};
    size_t length = strcspn(line, " ");
    const char *rest = line[length] ? line + length + 1 : "";

    line[length] = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(line, words[i].word) == 0) {
            words[i].obey(rest, &answer);
            return;
        }
    say(&answer, "error: the words are start, stop, step, snapshot, status, set, watch and unwatch",
        "");
}

bool mt_control(const char *line, char *answer, size_t answer_bytes)
{
    char copy[LINE_BYTES];

    if (!line || !answer || !answer_bytes || strlen(line) >= sizeof(copy))
        return false;
    strcpy(copy, line);
    answer[0] = 0;
    if (!guard_enter(LAYER_MARKS))
        return false;
    control_obey(copy, answer, answer_bytes);
    guard_leave(LAYER_MARKS);
    return strncmp(answer, "ok", 2) == 0;
}

void control_begin(void)
{
    const struct config *config = config_get();

    if (config->watch[0])
        watch_choose(config->watch);
    recorder_choose_devices(config->devices);
    if (config->starts_paused)
        recorder_pause(true);
    if (config->json[0])
        control_file_obey(config->json);
}

void control_tick(void)
{
    const struct config *config = config_get();

    if (config->is_controlled)
        control_socket_tick();
    if (config->control_file[0])
        control_file_tick(config->control_file);
}
