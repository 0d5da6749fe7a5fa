/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a memscope recording, put in the order of its files, taken in the order process, time.
 *
 * The tool writes the rows of a block when the block is freed, so a row may be as far from its
 * place as the recording is long. What is put is sorted in pieces; whole pieces are packed, and
 * kept in memory while they are few, else in a scratch file. Memory: some ten MiB, however many
 * records there are, and nothing on the disk for a recording of some million.
 * Equal times keep the order in which they were put.
 */
#ifndef LEAKTIDE_INPUT_MEMSCOPE_RUNS_H
#define LEAKTIDE_INPUT_MEMSCOPE_RUNS_H

#include "error_sentence.h"
#include "memscope_sort.h"

struct memscope_runs;

/* How much of it is held; for tests, which want it small. */
struct memscope_runs_limits {
    size_t piece_records;
    size_t memory_bytes; /* of packed pieces */
};
extern const struct memscope_runs_limits memscope_runs_usual;

/* NULL when there is no memory. */
struct memscope_runs *memscope_runs_create(struct memscope_runs_limits limits);
void memscope_runs_destroy(struct memscope_runs *runs);

/*
 * Room for one more record, which is all 0, to be filled before the next call; NULL when there is
 * no memory.
 */
struct memscope_record *memscope_runs_put(struct memscope_runs *runs);

/* After the last record, before the first is taken. MT_NO_MEMORY, MT_IO. */
enum mt_result memscope_runs_end(struct memscope_runs *runs, struct mt_error *error);

/* *record NULL is the end; borrowed until the next call. MT_IO: the scratch file cannot be read. */
enum mt_result memscope_runs_next(struct memscope_runs *runs, const struct memscope_record **record,
                                  struct mt_error *error);

#endif
