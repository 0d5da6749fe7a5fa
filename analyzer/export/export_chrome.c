/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's trace event format, JSON: for chrome://tracing, Perfetto and MindStudio Insight.
 *
 * Times are microseconds with three decimals; one event on a line.
 */
#include <inttypes.h>

#include "timeline.h"

struct chrome {
    struct outlet *out;
    bool has_events;
};

static void line_begin(struct chrome *chrome, const char *phase, const struct timeline_track *track,
                       const char *name)
{
    outlet_add_either(chrome->out, chrome->has_events, ",", "");
    outlet_format(chrome->out, "\n{\"ph\":%s,\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"name\":%s",
                  phase, track->process_id, track->thread_id, name);
    chrome->has_events = true;
}

static void line_end(struct chrome *chrome)
{
    outlet_add(chrome->out, "}");
}

static void add_time(struct chrome *chrome, uint64_t time_ns)
{
    outlet_format(chrome->out, ",\"ts\":%" PRIu64 ".%03" PRIu64, time_ns / 1000, time_ns % 1000);
}

static void on_track(void *context, const struct timeline_track *track)
{
    static const char *const words[] = {
        [TRACK_PROCESS] = "process_name",
        [TRACK_THREAD] = "thread_name",
        [TRACK_STEPS] = "thread_name",
        [TRACK_COUNTER] = NULL, /* its events name it */
    };
    struct chrome *chrome = context;

    if (!words[track->kind])
        return;
    line_begin(chrome, "M", track, words[track->kind]);
    outlet_add(chrome->out, ",\"args\":{\"name\":");
    outlet_words(chrome->out, track->name);
    outlet_add(chrome->out, "}");
    line_end(chrome);
}

static void on_counter(void *context, const struct timeline_track *track, uint64_t time_ns,
                       uint64_t bytes)
{
    struct chrome *chrome = context;

    line_begin(chrome, "C", track, track->name);
    add_time(chrome, time_ns);
    outlet_format(chrome->out, ",\"args\":{\"bytes\":%" PRIu64 "}", bytes);
    line_end(chrome);
}

static void on_begin(void *context, const struct timeline_track *track, uint64_t time_ns,
                     const char *name)
{
    struct chrome *chrome = context;

    line_begin(chrome, "B", track, name);
    add_time(chrome, time_ns);
    line_end(chrome);
}

static void on_end(void *context, const struct timeline_track *track, uint64_t time_ns)
{
    struct chrome *chrome = context;

    line_begin(chrome, "E", track, "");
    add_time(chrome, time_ns);
    line_end(chrome);
}

static void on_mark(void *context, const struct timeline_track *track, uint64_t time_ns,
                    const char *name)
{
    struct chrome *chrome = context;

    line_begin(chrome, "i", track, name);
    add_time(chrome, time_ns);
    outlet_add(chrome->out, ",\"s\":\"t\"");
    line_end(chrome);
}

enum mt_result export_chrome(const struct export_request *request, struct mt_error *error)
{
    struct chrome chrome = {.out = request->text};
    const struct timeline_writer writer = {
        .context = &chrome,
        .track = on_track,
        .counter = on_counter,
        .begin = on_begin,
        .end = on_end,
        .mark = on_mark,
    };
    enum mt_result result;

    outlet_add(chrome.out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    result = timeline_read(request, &writer, error);
    outlet_add(chrome.out, "\n]}\n");
    return result;
}
