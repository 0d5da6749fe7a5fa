/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The .mtt of one process image.
 *
 * Chunks are written at offsets that are reserved first, so any thread may write at any time
 * without a lock. The first page is mapped: what is counted there survives a kill. Where a store
 * into a mapped page may fail (file_room.h), it is a page of memory, and is written after each
 * chunk.
 */
#ifndef LEAKTIDE_TRACER_TRACE_FILE_H
#define LEAKTIDE_TRACER_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaktide/format.h"
#include "own_file.h"

struct resumed_stream {
    uint32_t stream;
    uint64_t end_position; /* of its last chunk */
};

struct trace_file {
    struct own_file file;
    struct mt_file_header *header;  /* NULL: not open */
    bool header_is_apart;           /* in memory, and written by trace_file_tell() */
    uint64_t size_limit_bytes;      /* RLIMIT_FSIZE: beyond it a write would kill the program */
    struct resumed_stream *resumed; /* of a trace that was resumed */
    uint32_t resumed_count;
    uint32_t *heartbeat; /* of the owner, moved while something takes long; NULL: nobody looks */
};

/* <folder>/<pid>-<start>.mtt, or with another ending. False: it is too long. */
bool trace_file_name(char *path, size_t path_bytes, const char *folder,
                     const struct mt_file_header *header, const char *ending);

/*
 * *trace is zeros, or zeros and a heartbeat.
 *
 * Makes the file with what `described` says, or goes on with the one that is there. False: the disk
 * says no, or it is no trace; then nothing is left open.
 */
bool trace_file_create(struct trace_file *trace, const char *path,
                       const struct mt_file_header *described);
bool trace_file_resume(struct trace_file *trace, const char *path,
                       const struct mt_file_header *described);

/*
 * How far a stream is in a trace that was resumed: words before that are in chunks, though the
 * ring's tail may not have been moved past them. 0: the stream is not in it.
 */
uint64_t trace_file_resumed_at(const struct trace_file *trace, uint32_t stream);

/* Reserves room and writes; 0 when the disk or a limit says no, else where the bytes stand. */
uint64_t trace_file_append(struct trace_file *trace, const void *bytes, size_t size_bytes);

/* What the header says is in the file then. */
void trace_file_tell(struct trace_file *trace);

/* Writes the index of all chunks and marks the file closed; it stays open for what comes late. */
void trace_file_finish(struct trace_file *trace);

/* Lets go of it. */
void trace_file_close(struct trace_file *trace);

#endif
