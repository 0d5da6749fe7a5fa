/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver blocks that a stretch between marks left behind, in one file of msleaks or msmemscope:
 * what check_leaks() of its Python module prints, in the same words.
 *
 * Per device, A, B and C are three marks in a row with one text. A block of the driver that was
 * taken between A and B, and not given back up to C, is left behind.
 */
#ifndef LEAKTIDE_DUMP_LEAKS_H
#define LEAKTIDE_DUMP_LEAKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error_sentence.h"

struct dump_leaks {
    const char *path;
    const char *mark;     /* its text */
    uint32_t start_index; /* which of the marks is A, from 0 */
};

/* What was found. */
struct dump_leaks_counts {
    size_t leak_count;
    size_t judged_device_count; /* with enough marks */
    uint64_t bad_count;         /* rows that were left out */
};

enum mt_result dump_leaks_write(const struct dump_leaks *leaks, FILE *file,
                                struct dump_leaks_counts *counts, struct mt_error *error);

#endif
