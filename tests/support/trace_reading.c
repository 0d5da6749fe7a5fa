/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_reading.h"

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "symbols.h"
#include "tally.h"

enum { DEFAULT_BATCH = 1000 };

static void read_all(struct trace_reading *reading, struct input *input, size_t batch_events)
{
    size_t capacity = 0, got = 1;

    while (got) {
        if (reading->count + batch_events > capacity) {
            capacity = 2 * capacity + batch_events;
            reading->events = realloc(reading->events, capacity * sizeof(*reading->events));
            if (!reading->events)
                abort();
        }
        reading->result = input_next(input, reading->events + reading->count, batch_events, &got,
                                     &reading->error);
        if (reading->result != MT_OK)
            return;
        reading->count += got;
    }
}

static struct trace_reading begin(void)
{
    struct trace_reading reading = {.error = {{0}}};

    reading.result = model_create(&reading.model, &reading.error);
    if (reading.result != MT_OK)
        abort();
    return reading;
}

static void read_path(struct trace_reading *reading, const char *path, size_t batch_events)
{
    struct input *input;

    reading->result = input_open(path, reading->model, &input, &reading->error);
    if (reading->result != MT_OK)
        return;
    read_all(reading, input, batch_events ? batch_events : DEFAULT_BATCH);
    input_close(input);
}

struct trace_reading trace_reading_of(const char *path, size_t batch_events)
{
    struct trace_reading reading = begin();

    read_path(&reading, path, batch_events);
    return reading;
}

struct trace_reading trace_reading_without_sites(const char *path)
{
    struct trace_reading reading = begin();

    model_want_no_sites(reading.model);
    read_path(&reading, path, 0);
    return reading;
}

struct trace_reading trace_reading_with_loads(const char *path, enum loads_wanted loads)
{
    struct trace_reading reading = begin();

    if (symbols_create(reading.model, &reading.symbols, NULL) != MT_OK ||
        symbols_configure(reading.symbols, &(struct symbols_options){.rule_files = NULL}, NULL) !=
            MT_OK)
        abort();
    model_want_loads(reading.model, loads);
    read_path(&reading, path, 0);
    return reading;
}

bool trace_reading_repeats(const struct trace_reading *first, const char *path)
{
    struct trace_reading again = {.model = first->model};
    bool is_same;

    model_rewind(again.model);
    read_path(&again, path, 0);
    is_same = again.result == first->result && again.count == first->count &&
              (!again.count ||
               memcmp(again.events, first->events, again.count * sizeof(*again.events)) == 0);
    free(again.events);
    return is_same;
}

void trace_reading_release(struct trace_reading *reading)
{
    symbols_destroy(reading->symbols);
    model_destroy(reading->model);
    free(reading->events);
    *reading = (struct trace_reading){.error = {{0}}};
}

const char *trace_reading_label(struct trace_reading *reading, uint32_t site)
{
    if (!reading->symbols && symbols_create(reading->model, &reading->symbols, NULL) != MT_OK)
        abort();
    return symbols_label(reading->symbols, site);
}

uint64_t trace_reading_note(const struct trace_reading *reading, const char *words)
{
    for (size_t i = 0; i < model_note_count(reading->model); i++) {
        uint64_t count;

        if (strstr(model_note_at(reading->model, i, &count), words))
            return count;
    }
    return 0;
}

/* Fed process by process, as a source hands events out. */
struct tally *trace_reading_tally(const struct trace_reading *reading)
{
    struct tally *tally;
    size_t begin = 0;

    if (tally_create(reading->model, &tally, NULL) != MT_OK)
        abort();
    for (size_t i = 0; i <= reading->count; i++) {
        if (i < reading->count && reading->events[i].process == reading->events[begin].process)
            continue;
        if (tally_feed(tally, reading->events + begin, i - begin, NULL) != MT_OK)
            abort();
        begin = i;
    }
    tally_finish(tally);
    return tally;
}
