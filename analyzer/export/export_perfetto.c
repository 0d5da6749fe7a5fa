/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's native trace. Source: perfetto.dev, protos/perfetto/trace: trace_packet.proto,
 * track_event/track_event.proto, track_descriptor.proto, counter_descriptor.proto.
 *
 * A trace is a list of packets; each is written as soon as it is made.
 */
#include "protobuf_writer.h"
#include "timeline.h"

/* Fields of the messages. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_TRACK_DESCRIPTOR = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS_DESCRIPTOR = 3,
    TRACK_THREAD_DESCRIPTOR = 4,
    TRACK_PARENT_UUID = 5,
    TRACK_COUNTER_DESCRIPTOR = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    COUNTER_UNIT = 3,
    COUNTER_UNIT_SIZE_BYTES = 3,
    EVENT_TYPE = 9,
    EVENT_TRACK_UUID = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30
};

enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

enum { sequence_id = 1, pid_most = INT32_MAX };

struct perfetto {
    FILE *out;
    struct text_builder packet, event, inner, whole;
};

static void packet_write(struct perfetto *perfetto)
{
    text_clear(&perfetto->whole);
    proto_number(&perfetto->packet, PACKET_SEQUENCE_ID, sequence_id);
    proto_message(&perfetto->whole, TRACE_PACKET, &perfetto->packet);
    fwrite(text_get(&perfetto->whole), 1, perfetto->whole.size_bytes, perfetto->out);
}

static void event_write(struct perfetto *perfetto, uint64_t time_ns)
{
    text_clear(&perfetto->packet);
    proto_number_always(&perfetto->packet, PACKET_TIMESTAMP, time_ns);
    proto_message(&perfetto->packet, PACKET_TRACK_EVENT, &perfetto->event);
    packet_write(perfetto);
}

static void event_begin(struct perfetto *perfetto, enum event_type type,
                        const struct timeline_track *track, const char *name)
{
    text_clear(&perfetto->event);
    proto_number(&perfetto->event, EVENT_TYPE, type);
    proto_number(&perfetto->event, EVENT_TRACK_UUID, track->number);
    if (name)
        proto_text(&perfetto->event, EVENT_NAME, name);
}

/* Ids are 32-bit there. */
static uint64_t id_of(uint64_t id)
{
    return id <= pid_most ? id : id & pid_most;
}

static void add_kind(struct perfetto *perfetto, const struct timeline_track *track)
{
    struct text_builder *inner = &perfetto->inner;

    text_clear(inner);
    switch (track->kind) {
    case TRACK_PROCESS:
        proto_number(inner, PROCESS_PID, id_of(track->process_id));
        proto_text(inner, PROCESS_NAME, track->name);
        proto_message(&perfetto->event, TRACK_PROCESS_DESCRIPTOR, inner);
        break;
    case TRACK_THREAD:
        proto_number(inner, THREAD_PID, id_of(track->process_id));
        proto_number(inner, THREAD_TID, id_of(track->thread_id));
        proto_text(inner, THREAD_NAME, track->name);
        proto_message(&perfetto->event, TRACK_THREAD_DESCRIPTOR, inner);
        break;
    case TRACK_COUNTER:
        proto_number(inner, COUNTER_UNIT, COUNTER_UNIT_SIZE_BYTES);
        proto_message(&perfetto->event, TRACK_COUNTER_DESCRIPTOR, inner);
        break;
    case TRACK_STEPS:
        break;
    }
}

static void on_track(void *context, const struct timeline_track *track)
{
    struct perfetto *perfetto = context;

    text_clear(&perfetto->event);
    proto_number(&perfetto->event, TRACK_UUID, track->number);
    proto_number(&perfetto->event, TRACK_PARENT_UUID, track->parent);
    proto_text(&perfetto->event, TRACK_NAME, track->name);
    add_kind(perfetto, track);
    text_clear(&perfetto->packet);
    proto_message(&perfetto->packet, PACKET_TRACK_DESCRIPTOR, &perfetto->event);
    packet_write(perfetto);
}

static void on_counter(void *context, const struct timeline_track *track, uint64_t time_ns,
                       uint64_t bytes)
{
    struct perfetto *perfetto = context;

    event_begin(perfetto, COUNTER, track, NULL);
    proto_number_always(&perfetto->event, EVENT_COUNTER_VALUE, bytes);
    event_write(perfetto, time_ns);
}

static void on_begin(void *context, const struct timeline_track *track, uint64_t time_ns,
                     const char *name)
{
    event_begin(context, SLICE_BEGIN, track, name);
    event_write(context, time_ns);
}

static void on_end(void *context, const struct timeline_track *track, uint64_t time_ns)
{
    event_begin(context, SLICE_END, track, NULL);
    event_write(context, time_ns);
}

static void on_mark(void *context, const struct timeline_track *track, uint64_t time_ns,
                    const char *name)
{
    event_begin(context, INSTANT, track, name);
    event_write(context, time_ns);
}

enum mt_result export_perfetto(const struct export_request *request, struct mt_error *error)
{
    struct perfetto perfetto = {.out = request->out};
    const struct timeline_writer writer = {
        .context = &perfetto,
        .track = on_track,
        .counter = on_counter,
        .begin = on_begin,
        .end = on_end,
        .mark = on_mark,
    };
    enum mt_result result;

    text_init(&perfetto.packet);
    text_init(&perfetto.event);
    text_init(&perfetto.inner);
    text_init(&perfetto.whole);
    result = timeline_read(request, &writer, error);
    if (result == MT_OK && (perfetto.packet.has_failed || perfetto.event.has_failed ||
                            perfetto.inner.has_failed || perfetto.whole.has_failed))
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for an event");
    text_release(&perfetto.packet);
    text_release(&perfetto.event);
    text_release(&perfetto.inner);
    text_release(&perfetto.whole);
    return result;
}
