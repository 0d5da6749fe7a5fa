/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what a process holds rise until its work ends, whatever its stacks do?
 *
 * An allocator within a program takes its memory in a few large blocks, at whatever line its room
 * runs out, so no stack is seen often enough to be judged. All blocks of the process's own memory
 * together tell that it grows.
 *
 * One thread at a time; nothing to release.
 */
#ifndef LEAKTIDE_ANALYSES_BLOCK_RISE_H
#define LEAKTIDE_ANALYSES_BLOCK_RISE_H

#include <stdint.h>

enum { BLOCK_RISE_MOST = 128 };

/* Zeroed before the first birth. */
struct block_rise {
    uint64_t alive_bytes;
    uint64_t start_ns, stride_ns; /* stride 0: nothing was born yet */
    uint64_t next_ns;             /* when the next stride begins */
    uint32_t count;
    uint64_t lows[BLOCK_RISE_MOST]; /* least alive in each stride since the start */
};

/* How much, and in which time; no bytes: it does not rise, or was not seen long enough. */
struct block_risen {
    uint64_t bytes, duration_ns;
};

/* In the order of time. */
void block_rise_born(struct block_rise *rise, uint64_t time_ns, uint64_t size_bytes);
void block_rise_gone(struct block_rise *rise, uint64_t time_ns, uint64_t size_bytes);
/* Between the beginning of the loop and the end of the program's work. */
struct block_risen block_rise_between(const struct block_rise *rise, uint64_t begin_ns,
                                      uint64_t end_ns);

#endif
