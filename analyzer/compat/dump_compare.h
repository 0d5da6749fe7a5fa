/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two recordings of msleaks or msmemscope, launch by launch: memory_compare_<time>.csv.
 *
 * Per device, the names of the launches of both are put side by side with the fewest left over.
 * The tool's own value of a launch is the size of the first row of a framework's pool at or behind
 * it, which says little: the block may be of another launch, and a free counts as well. So, unless
 * told to be strict, three columns follow for what each launch itself did:
 *
 *   net   bytes it took and did not give back
 *   peak  the most it held at once
 */
#ifndef MEMTIDE_DUMP_COMPARE_H
#define MEMTIDE_DUMP_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "memtide/error.h"

struct dump_compare {
    const char *base_path, *other_path;
    bool by_kernel; /* else by operator */
    bool is_strict; /* only the tool's own columns */
};

/* What was written. */
struct dump_compare_counts {
    size_t pair_count;      /* rows */
    size_t different_count; /* of which the tool's own values differ */
    uint64_t bad_count;     /* rows of the inputs that were left out */
};

/* MT_NO_DATA when a file has no such launches, or the two are of different frameworks. */
enum mt_result dump_compare_write(const struct dump_compare *compare, FILE *out,
                                  struct dump_compare_counts *counts, struct mt_error *error);

#endif
