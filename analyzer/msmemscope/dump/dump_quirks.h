/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The known errors of msmemscope in rows of blocks, for files that must be equal to its own.
 */
#ifndef LEAKTIDE_DUMP_QUIRKS_H
#define LEAKTIDE_DUMP_QUIRKS_H

#include <stdbool.h>

#include "memscope_writer.h"

/* Of one process, from its first row on. */
struct dump_quirks {
    bool has_mindspore; /* a block of that pool was there */
};

void dump_quirks_apply(struct dump_quirks *quirks, struct memscope_row *row);

#endif
