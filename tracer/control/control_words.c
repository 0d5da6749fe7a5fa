/* SPDX-License-Identifier: Apache-2.0 */
#include "control_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control_wish.h"
#include "option_values.h"

/* A word that is heard: what it depends on, what comes of it, and what is said. */
struct hearing {
    const struct mt_recording_facts *facts;
    struct control_change *change;
    char *answer;
    size_t answer_bytes;
};

static enum control_word say(const struct hearing *h, enum control_word word, const char *first,
                             const char *rest)
{
    snprintf(h->answer, h->answer_bytes, "%s%s%s\n", first, *rest ? " " : "", rest);
    return word;
}

static enum control_word refuse(const struct hearing *h, const char *why)
{
    return say(h, CONTROL_WRONG, "error:", why);
}

static bool text_take(struct control_change *change, const char *text)
{
    size_t length = strlen(text);

    if (length >= sizeof(change->text))
        return false;
    memcpy(change->text, text, length + 1);
    return true;
}

/* --- words --------------------------------------------------------------------------------- */

static enum control_word hear_start(const char *rest, const struct hearing *h)
{
    (void)rest;
    h->change->kind = CHANGE_START;
    return say(h, CONTROL_CHANGE, "ok", "recording");
}

static enum control_word hear_stop(const char *rest, const struct hearing *h)
{
    (void)rest;
    h->change->kind = CHANGE_STOP;
    return say(h, CONTROL_CHANGE, "ok", "paused");
}

static enum control_word hear_step(const char *rest, const struct hearing *h)
{
    static const struct {
        const char *word;
        enum control_kind kind;
    } words[] = {{"", CHANGE_STEP}, {"open", CHANGE_STEP_OPEN}, {"done", CHANGE_STEP_DONE}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(rest, words[i].word) == 0) {
            h->change->kind = words[i].kind;
            return CONTROL_STEP;
        }
    return refuse(h, "step, step open or step done");
}

static enum control_word hear_snapshot(const char *rest, const struct hearing *h)
{
    if (!text_take(h->change, *rest ? rest : "Memory Snapshot"))
        return refuse(h, "the name of a snapshot has at most 551 bytes");
    return CONTROL_SNAPSHOT;
}

static enum control_word hear_status(const char *rest, const struct hearing *h)
{
    (void)rest;
    (void)h;
    return CONTROL_STATUS;
}

/* ADDRESS BYTES TIMES NAME: a tensor of the program; TIMES -1: always. */
static enum control_word hear_watch(const char *rest, const struct hearing *h)
{
    unsigned long long address, size_bytes;
    long long dumps;
    int name = 0;

    if (sscanf(rest, "%llu %llu %lld %n", &address, &size_bytes, &dumps, &name) != 3 || !name ||
        !rest[name] || !text_take(h->change, rest + name))
        return refuse(h, "watch needs an address, bytes, a number of times and a name");
    h->change->kind = CHANGE_WATCH_RANGE;
    h->change->first = address;
    h->change->last = size_bytes;
    h->change->dumps = dumps;
    return say(h, CONTROL_CHANGE, "ok", "watched");
}

static enum control_word hear_unwatch(const char *rest, const struct hearing *h)
{
    h->change->kind = CHANGE_UNWATCH;
    h->change->first = strtoull(rest, NULL, 10);
    return say(h, CONTROL_CHANGE, "ok", "no longer watched");
}

/* --- what can be set ---------------------------------------------------------------------------
 *
 * Each answers NULL, or a sentence that says why not.
 */

/* "all", "7" or "3-5". */
static const char *set_steps(const char *value, const struct hearing *h)
{
    static const char wrong[] = "steps are all, a number, or two with a - between";
    struct control_change *change = h->change;
    char *end;

    change->kind = CHANGE_STEPS;
    if (strcmp(value, "all") == 0)
        return NULL;
    change->first = change->last = strtoull(value, &end, 10);
    if (*end == '-')
        change->last = strtoull(end + 1, &end, 10);
    if (!change->first || change->last < change->first || *end || *value < '0' || *value > '9')
        return wrong;
    return NULL;
}

static const char *set_events(const char *value, const struct hearing *h)
{
    h->change->kind = CHANGE_EVENTS;
    return values_events_are_right(value) && text_take(h->change, value)
               ? NULL
               : "events are alloc, free, launch, access";
}

static const char *set_level(const char *value, const struct hearing *h)
{
    bool has_operators, has_kernels;

    h->change->kind = CHANGE_LEVEL;
    return values_read_level(value, &has_operators, &has_kernels) && text_take(h->change, value)
               ? NULL
               : "levels are op, kernel";
}

static const char *set_watch(const char *value, const struct hearing *h)
{
    h->change->kind = CHANGE_WATCH;
    return values_watch_is_right(value) && text_take(h->change, value)
               ? NULL
               : "watch is [START[:N]],END[,full-content]";
}

static const char *set_call_stack(const char *value, const struct hearing *h)
{
    struct option_frames frames;

    if (!values_read_frames(value, &frames))
        return "call-stack is none, or c[:N], python[:N] with N up to 1000";
    if (!h->facts->has_stacks)
        return "this recording began without call stacks; begin it with --call-stack=c:1 to have "
               "more later";
    if (frames.python && !h->facts->has_python)
        return "this recording began without stacks of Python; begin it with "
               "--call-stack=c,python:1 to have more later";
    h->change->kind = CHANGE_FRAMES;
    h->change->first = frames.native;
    h->change->last = frames.python;
    return NULL;
}

static const char *set_collect_mode(const char *value, const struct hearing *h)
{
    bool is_deferred = strcmp(value, "deferred") == 0;

    if (!is_deferred && strcmp(value, "immediate") != 0)
        return "collect-mode is immediate or deferred";
    h->change->kind = CHANGE_WISH;
    h->change->is_wanted = !is_deferred;
    return NULL;
}

/* Only of devices: the heap of the host is hooked, or it is not. */
static const char *set_device(const char *value, const struct hearing *h)
{
    uint64_t devices;
    bool has_host;

    if (!values_read_devices(value, &devices, &has_host))
        return "devices are npu, npu:N, gpu, opencl, N up to 63";
    if (has_host != h->facts->records_host)
        return has_host ? "cpu cannot come later; begin the recording with --device=npu,cpu"
                        : "cpu cannot go; name it as well";
    h->change->kind = CHANGE_DEVICES;
    h->change->first = devices ? devices : UINT64_MAX;
    return NULL;
}

/* What analyses need is recorded; they are made of the recording. */
static const char *set_analysis(const char *value, const struct hearing *h)
{
    static const struct {
        const char *name;
        const char *events; /* that it needs */
    } known[] = {{"leaks", ""},
                 {"oom", ""},
                 {"none", ""},
                 {"", ""},
                 {"decompose", "alloc,free,access"},
                 {"inefficient", "alloc,free,access,launch"}};
    const char *events = "";

    for (const char *rest = value; rest;) {
        size_t length = strcspn(rest, ",:"), i = 0;

        while (i < sizeof(known) / sizeof(known[0]) &&
               (strlen(known[i].name) != length || strncmp(known[i].name, rest, length) != 0))
            i++;
        if (i == sizeof(known) / sizeof(known[0]))
            return strncmp(rest, "host-leaks", 10) == 0
                       ? "host-leaks cannot come later; begin the recording with it"
                       : "analyses are leaks, decompose, inefficient, oom, none";
        if (strlen(known[i].events) > strlen(events))
            events = known[i].events;
        rest = strchr(rest, ',');
        rest = rest ? rest + 1 : NULL;
    }
    h->change->kind = *events ? CHANGE_EVENTS : CHANGE_NOTHING;
    text_take(h->change, events);
    return NULL;
}

static enum control_word hear_set(const char *rest, const struct hearing *h)
{
    static const struct {
        const char *name;
        const char *(*set)(const char *value, const struct hearing *h);
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
        why = settings[i].set(rest + length, h);
        if (why)
            return refuse(h, why);
        return say(h, h->change->kind == CHANGE_NOTHING ? CONTROL_NOTHING : CONTROL_CHANGE, "ok",
                   rest);
    }
    return refuse(h, "events, steps, level, call-stack, device, collect-mode, analysis and watch "
                     "can be set while a program runs; the rest belongs to the command line");
}

enum control_word control_understand(char *line, const struct mt_recording_facts *facts,
                                     struct control_change *change, char *answer,
                                     size_t answer_bytes)
{
    static const struct {
        const char *word;
        enum control_word (*hear)(const char *rest, const struct hearing *h);
    } words[] = {
        {"start", hear_start},       {"stop", hear_stop},       {"step", hear_step},
        {"snapshot", hear_snapshot}, {"status", hear_status},   {"set", hear_set},
        {"watch", hear_watch},       {"unwatch", hear_unwatch},
    };
    const struct hearing h = {facts, change, answer, answer_bytes};
    size_t length = strcspn(line, " ");
    const char *rest = line[length] ? line + length + 1 : "";

    *change = (struct control_change){0};
    line[length] = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(line, words[i].word) == 0)
            return words[i].hear(rest, &h);
    return refuse(&h, "the words are start, stop, step, snapshot, status, set, watch and unwatch");
}

struct control_change control_of_file(const char *json, int64_t rank)
{
    struct control_wish wish = control_wish_read(json, rank);

    return (struct control_change){
        .kind = CHANGE_WISH,
        .is_wanted = wish.is_wanted,
        .first = wish.is_wanted ? wish.first_step : 0,
        .last = wish.is_wanted ? wish.last_step : 0,
    };
}

bool control_pauses(const struct control_change *change, uint64_t step, bool before)
{
    bool is_outside = change->first && (step < change->first || step > change->last);

    switch (change->kind) {
    case CHANGE_START:
        return false;
    case CHANGE_STOP:
        return true;
    case CHANGE_STEPS:
        return is_outside;
    case CHANGE_WISH:
        return !change->is_wanted || is_outside;
    default:
        return before;
    }
}

void control_say_status(const struct control_status *status, char *answer, size_t answer_bytes)
{
    const struct mt_file_header *header = status->header;

    snprintf(answer, answer_bytes,
             "ok %s\nprocess %" PRIu32 "\nevents %" PRIu64 " on disk\nlost %" PRIu64
             "\nstep %" PRIu64 "\nresident %" PRIu64 " B, peak %" PRIu64 " B\ndevices %" PRIu64
             " B, peak %" PRIu64 " B\nfolder %s\n",
             status->is_paused ? "paused" : "recording", status->process_id, status->event_count,
             status->lost_count, header->step_count, header->rss_bytes, header->rss_peak_bytes,
             header->device_used_bytes, header->device_used_peak_bytes, status->folder);
}
