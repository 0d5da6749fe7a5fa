/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's trace event format, JSON: for chrome://tracing, Perfetto and MindStudio Insight.
 *
 * Times are microseconds with three decimals; one event on a line.
 */
#include <inttypes.h>

#include "json_text.h"
#include "timeline.h"

struct chrome {
    FILE *out;
    struct text_builder line;
    bool has_events;
};

static void line_begin(struct chrome *chrome, const char *phase, const struct timeline_track *track,
                       const char *name)
{
    text_clear(&chrome->line);
    text_add_format(&chrome->line,
                    "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"name\":",
                    chrome->has_events ? "," : "", phase, track->process_id, track->thread_id);
    text_add_json(&chrome->line, name);
    chrome->has_events = true;
}

static void line_end(struct chrome *chrome)
{
    text_add(&chrome->line, "}");
    fwrite(text_get(&chrome->line), 1, chrome->line.size_bytes, chrome->out);
}

static void add_time(struct chrome *chrome, uint64_t time_ns)
{
    text_add_format(&chrome->line, ",\"ts\":%" PRIu64 ".%03" PRIu64, time_ns / 1000,
                    time_ns % 1000);
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
    text_add(&chrome->line, ",\"args\":{\"name\":");
    text_add_json(&chrome->line, track->name);
    text_add(&chrome->line, "}");
    line_end(chrome);
}

static void on_counter(void *context, const struct timeline_track *track, uint64_t time_ns,
                       uint64_t bytes)
{
    struct chrome *chrome = context;

    line_begin(chrome, "C", track, track->name);
    add_time(chrome, time_ns);
    text_add_format(&chrome->line, ",\"args\":{\"bytes\":%" PRIu64 "}", bytes);
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
    text_add(&chrome->line, ",\"s\":\"t\"");
    line_end(chrome);
}

enum mt_result export_chrome(const struct export_request *request, struct mt_error *error)
{
    struct chrome chrome = {.out = request->out};
    const struct timeline_writer writer = {
        .context = &chrome,
        .track = on_track,
        .counter = on_counter,
        .begin = on_begin,
        .end = on_end,
        .mark = on_mark,
    };
    enum mt_result result;

    text_init(&chrome.line);
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", chrome.out);
    result = timeline_read(request, &writer, error);
    fputs("\n]}\n", chrome.out);
    if (result == MT_OK && chrome.line.has_failed)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for an event");
    text_release(&chrome.line);
    return result;
}
