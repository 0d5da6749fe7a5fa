/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host heap of one process as msmemscope reports it: leak_overview_<stage>.txt, and
 * block_detail_<stage>.csv with every block that is left.
 */
#ifndef LEAKTIDE_HOST_LEAKS_H
#define LEAKTIDE_HOST_LEAKS_H

#include <stdint.h>
#include <stdio.h>

#include "leaktide/analyzer.h"

struct host_leaks {
    uint64_t least_bytes; /* smaller blocks are left out */
    FILE *overview;
    FILE *blocks; /* NULL: not wanted */
};

/* MT_NO_DATA when no block of the host heap was recorded. */
enum mt_result host_leaks_write(struct mt_trace *trace, const struct host_leaks *what,
                                struct mt_error *error);

#endif
