/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes trace files for tests, through the tracer's own encoder.
 *
 *     struct trace_builder *b = trace_builder_create(&(struct trace_builder_setup){0});
 *     trace_builder_thread(b, 0, 100, 4711, "main");
 *     trace_builder_host_alloc(b, 0, 200, (struct built_block){.address = 0x1000, .size = 64});
 *     trace_builder_close(b);
 *     trace_builder_write(b, folder);
 *
 * Times are counter ticks since the start of the process; with the default setup a tick is a
 * nanosecond. Records are pushed into the ring of a stream; they reach the file when the stream is
 * drained, and what is never drained goes to the .rings file, as after a kill. Running out of
 * memory, or wrong use, ends the test program.
 */
#ifndef LEAKTIDE_TESTS_TRACE_BUILDER_H
#define LEAKTIDE_TESTS_TRACE_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "leaktide/format.h"

struct trace_builder;

/* Zeros mean the defaults named here. */
struct trace_builder_setup {
    uint32_t process_id;         /* 1000 */
    uint32_t parent_process_id;  /* 0 */
    uint64_t start_monotonic_ns; /* 1 s */
    uint64_t start_realtime_ns;  /* 2026-01-01 */
    uint64_t start_ticks;        /* 1e6 */
    uint64_t ticks_per_second;   /* 1e9 */
    unsigned time_shift;         /* 0 */
    uint64_t run_id;             /* 1 */
    uint64_t ring_words;         /* 65536; a power of two */
    const char *executable;      /* "/bin/test" */
    const char *command_line;    /* "test" */
    const char *options;         /* "" */
};

struct built_block {
    uint64_t address, size, site;
    const char *pool; /* ignored for the host heap */
    struct mt_place place;
};

struct trace_builder *trace_builder_create(const struct trace_builder_setup *setup);
void trace_builder_destroy(struct trace_builder *builder);

/* Any record without BYTES; fields in the order of records.def. */
void trace_builder_push(struct trace_builder *builder, uint32_t stream, enum mt_record_code code,
                        uint64_t time, const uint64_t *fields);
void trace_builder_push_bytes(struct trace_builder *builder, uint32_t stream,
                              enum mt_record_code code, uint64_t time, const uint64_t *fields,
                              const void *bytes, size_t size_bytes);
/* Any word, for tests of damage. */
void trace_builder_push_word(struct trace_builder *builder, uint32_t stream, uint64_t word);

/* Defines the text in the stream, once, and returns its id. */
uint64_t trace_builder_text(struct trace_builder *builder, uint32_t stream, uint64_t time,
                            const char *text);
void trace_builder_thread(struct trace_builder *builder, uint32_t stream, uint64_t time,
                          uint64_t thread_id, const char *name);
void trace_builder_host_alloc(struct trace_builder *builder, uint32_t stream, uint64_t time,
                              struct built_block block);
void trace_builder_host_free(struct trace_builder *builder, uint32_t stream, uint64_t time,
                             uint64_t address);
void trace_builder_alloc(struct trace_builder *builder, uint32_t stream, uint64_t time,
                         struct built_block block);
void trace_builder_free(struct trace_builder *builder, uint32_t stream, uint64_t time,
                        const char *pool, uint64_t address);

/* A stack, as in leaktide/frames.h; `before` is the last of the shared frames, or 0. */
struct built_stack {
    uint64_t id, shared_count, flags, before;
    const uint64_t *frames;
    size_t count;
};

void trace_builder_stack(struct trace_builder *builder, uint32_t stream, uint64_t time,
                         const struct built_stack *stack);

/* Moves what the stream has into chunks. A full ring is drained by itself. */
void trace_builder_drain(struct trace_builder *builder, uint32_t stream);
/* Drains all streams, writes the index, and marks the file closed. */
void trace_builder_close(struct trace_builder *builder);

/* May be changed before the file is written; its checksum is brought up to date by then. */
struct mt_file_header *trace_builder_header(struct trace_builder *builder);

/* The .mtt so far. Borrowed until the next call for this builder. */
const uint8_t *trace_builder_bytes(struct trace_builder *builder, size_t *size_bytes);

/*
 * Writes <pid>-<start ticks>.mtt into the folder, and .rings if words are left; the path of the
 * .mtt is borrowed until the builder is destroyed.
 */
const char *trace_builder_write(struct trace_builder *builder, const char *folder);

#endif
