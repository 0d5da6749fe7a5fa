/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_inefficient() of msmemscope's Python module: looks for blocks that are used badly in one of
 * its files, and writes what it finds into that file, as `inefficient_type` of the block.
 *
 * The file is written anew beside itself and then takes the old one's place, so it is whole at any
 * moment. What an earlier look has found is kept, and nothing is there twice.
 */
#ifndef LEAKTIDE_DUMP_INEFFICIENT_H
#define LEAKTIDE_DUMP_INEFFICIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "error_sentence.h"

struct dump_inefficient_search {
    const char *path;
    uint64_t least_bytes;    /* smaller blocks are left alone */
    uint32_t types;          /* bits of enum dump_inefficient; 0: all */
    uint32_t idle_threshold; /* calls */
    /* As the tool: frees that its own exit made count; csv gets CRLF and few quotes. */
    bool is_strict;
};

struct dump_inefficient_counts {
    uint64_t early_count, late_count, idle_count;
    uint64_t block_count, block_bytes; /* with any of them */
    uint64_t bad_count;                /* rows that were left out */
};

enum mt_result dump_inefficient_mark(const struct dump_inefficient_search *search, FILE *out,
                                     struct dump_inefficient_counts *counts,
                                     struct mt_error *error);

#endif
