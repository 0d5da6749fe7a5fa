/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as tracks of a timeline: a counter for each ledger, slices for steps and operators,
 * marks. What viewers of traces draw.
 *
 * A track is told before its first event. Numbers of tracks are dense and start at 1.
 */
#ifndef LEAKTIDE_TIMELINE_H
#define LEAKTIDE_TIMELINE_H

#include "export.h"

enum timeline_kind { TRACK_PROCESS, TRACK_THREAD, TRACK_STEPS, TRACK_COUNTER };

struct timeline_track {
    uint64_t number, parent; /* parent 0: none */
    enum timeline_kind kind;
    const char *name; /* "pta device 0" */
    uint64_t process_id, thread_id;
};

struct timeline_writer {
    void *context;
    void (*track)(void *context, const struct timeline_track *track);
    /* Times in nanoseconds since the start of the run. */
    void (*counter)(void *context, const struct timeline_track *track, uint64_t time_ns,
                    uint64_t bytes);
    void (*begin)(void *context, const struct timeline_track *track, uint64_t time_ns,
                  const char *name);
    void (*end)(void *context, const struct timeline_track *track, uint64_t time_ns);
    void (*mark)(void *context, const struct timeline_track *track, uint64_t time_ns,
                 const char *name);
};

/* As lives_read(). Slices that are open at the end of a process are ended there. */
enum mt_result timeline_read(const struct export_request *request,
                             const struct timeline_writer *writer, struct mt_error *error);

enum mt_result export_chrome(const struct export_request *request, struct mt_error *error);
enum mt_result export_perfetto(const struct export_request *request, struct mt_error *error);

#endif
