/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One .mtt with the .rings beside it: its header, and where its chunks and left-over words are.
 *
 * The list of chunks comes from the index when that checks out, else from a scan of the file that
 * goes on after damage. Nothing that a file claims is believed before it was compared with what
 * is there. Files are read with pread, so a file that shrinks meanwhile is an error, not a crash.
 */
#ifndef LEAKTIDE_MTT_FILE_H
#define LEAKTIDE_MTT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chunk_decoder.h"
#include "error_sentence.h"
#include "leaktide/format.h"
#include "model.h"
#include "ring_reader.h"
#include "run_rings.h"

struct ZSTD_DCtx_s;

struct trace_chunk {
    uint64_t offset_bytes;
    struct mt_chunk_header header;
};

struct mtt_file {
    char *path;
    int descriptor, rings_descriptor; /* -1: not open */
    struct run_rings run_rings;       /* open where the rings are those of the run */
    int64_t place;                    /* in them; -1: none */
    uint64_t size_bytes;
    struct mt_file_header header;
    struct trace_chunk *chunks; /* of events; by stream and position, once they are found */
    size_t chunk_count, chunk_capacity;
    struct ring_slot *slots; /* by stream */
    size_t slot_count, slot_capacity;
};

/* Zero a struct mtt_file, or set it to this, before its first use. */
#define MTT_FILE_CLOSED                                                                            \
    ((struct mtt_file){                                                                            \
        .descriptor = -1, .rings_descriptor = -1, .run_rings = {.descriptor = -1}, .place = -1})

/* "<pid>-<start>.mtt" */
void mtt_file_name(char *name, size_t name_bytes, const struct mt_file_header *header);

/*
 * Reads and checks the header. Where a process was killed with its consumer before that could make
 * the file, it is what run.rings in the same folder has of that name. Errors: MT_IO; MT_CORRUPT:
 * too short, no trace, damaged header; MT_UNSUPPORTED: a newer format.
 */
enum mt_result mtt_file_open(struct mtt_file *file, const char *path, struct mt_error *error);
void mtt_file_close(struct mtt_file *file);

/*
 * Finds the slots, then the chunks. Damage becomes a note in the model. MT_NO_MEMORY, MT_IO.
 */
enum mt_result mtt_file_find(struct mtt_file *file, struct model *model, struct mt_error *error);

/* What reading a chunk needs; shared by all files. */
struct chunk_loader {
    struct ZSTD_DCtx_s *zstd;
    uint8_t *payload;
    size_t payload_capacity;
};

/* Reads, verifies and unpacks a chunk into raw, which has room for its raw_bytes. */
enum mt_result mtt_file_load(const struct mtt_file *file, const struct trace_chunk *chunk,
                             struct chunk_loader *loader, uint8_t *raw, struct mt_error *error);
void chunk_loader_release(struct chunk_loader *loader);

#endif
