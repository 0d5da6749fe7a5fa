/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program under the tracer, and counts what the trace says about it.
 */
#ifndef LEAKTIDE_TEST_TRACED_RUN_H
#define LEAKTIDE_TEST_TRACED_RUN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct event;
struct model;

/* A new empty folder's path, to be removed by folder_remove. Static storage of the caller. */
void folder_make(char path[256]);
void folder_remove(const char *path);

/* The command, to start programs by `leaktide run`; NULL: they are only preloaded, and alone. */
extern const char *traced_launcher;

/*
 * Starts argv[0] with LD_PRELOAD set to `library` and the recording in `folder`; `options` are
 * added to LEAKTIDE_OPTIONS. Returns the process, or -1.
 */
pid_t traced_start(const char *library, const char *folder, const char *options,
                   const char *const argv[]);

/* The same, and waits; returns wait()'s status, of the program also where a launcher hands it on.
 */
int traced_run(const char *library, const char *folder, const char *options,
               const char *const argv[]);

struct trace_totals {
    uint64_t process_count;
    uint64_t complete_count; /* processes whose recorder closed the trace */
    uint64_t alloc_count, free_count, alloc_bytes;
    uint64_t lost_count;
    uint64_t note_count;
};

typedef void (*event_visitor)(void *argument, const struct model *model, const struct event *event);

/*
 * Reads the whole recording; fails the running test with its sentence if it cannot be read. At the
 * end `visit` is called once more with event NULL, while the model is still there.
 */
void trace_walk(const char *path, event_visitor visit, void *argument, struct trace_totals *totals);

/* Allocs of exactly size_bytes, and frees of blocks that were such. */
struct size_count {
    uint64_t size_bytes;
    uint64_t alloc_count, free_count;
};

void trace_count_size(const char *path, struct size_count *count, struct trace_totals *totals);

#endif
