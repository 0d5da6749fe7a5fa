/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two files of this process: <output>/<pid>-<start>.mtt and .rings.
 *
 * Chunks are written at offsets that are reserved first, so any thread may write at any time
 * without a lock. The first page of the .mtt is mapped: what is counted there survives a kill.
 * Descriptors are looked at before each use, because programs close descriptors they do not know.
 */
#ifndef MEMTIDE_TRACER_TRACE_FILE_H
#define MEMTIDE_TRACER_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "memtide/format.h"

struct trace_file {
    char path[1200]; /* of the .mtt */
    int descriptor;  /* -1: not open */
    dev_t device;
    ino_t inode;
};

struct trace_files {
    struct trace_file trace, rings;
    struct mt_file_header *header; /* never NULL after open: private memory if need be */
    uint64_t size_limit_bytes;     /* RLIMIT_FSIZE: beyond it a write would kill the program */
};

/* False when the folder cannot be written; then nothing is left open. */
bool trace_files_open(struct trace_files *files, const char *output_path, uint64_t run_id,
                      const char *options);

/* A descriptor that certainly is our file, or -1. */
int trace_file_descriptor(struct trace_file *file);

/* Reserves room and writes; 0 when the disk or a limit says no, else where the bytes stand. */
uint64_t trace_files_append(struct trace_files *files, const void *bytes, size_t size_bytes);

/* Writes the index of all chunks and marks the file closed. */
void trace_files_close(struct trace_files *files);

/* In a forked child: lets go of the parent's files without touching them. */
void trace_files_forget(struct trace_files *files);

#endif
