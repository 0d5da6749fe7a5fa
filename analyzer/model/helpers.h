/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs around the one that was meant: the shells that lead to it, and what they and it call. A
 * launcher of Python versions makes eighty processes before the first line of Python runs.
 *
 * The process that held most, and is no errand, is meant, and so are all of its executable, those
 * that hold memory of a device, and those with marked steps. Another one is a helper if it was
 * small, and over for the most part before the first that is meant began; or if it held less than a
 * thirty-second of it. Helpers are judged like the others; in texts they come last.
 *
 * An errand is a helper of whatever size: another program that the job calls and that is over long
 * before it: a compiler, say. Where one process makes half of all blocks, an errand is one of
 * another executable that lived within a quarter of its time. What it keeps is given back when it
 * ends. Of many programs that a test driver runs none is an errand: the driver makes few blocks.
 */
#ifndef LEAKTIDE_MODEL_HELPERS_H
#define LEAKTIDE_MODEL_HELPERS_H

#include "tally.h"

/* What decides it, of one process. */
struct process_use {
    const char *executable; /* "": not known */
    uint64_t start_ns, end_ns;
    uint64_t peak_bytes; /* of its largest ledger */
    uint64_t births;     /* of all of them */
    bool has_device, has_steps;
    bool is_helper, is_errand; /* what helpers_find() says */
};

/* Its executable is borrowed from the model. */
struct process_use helpers_use(const struct model *model, const struct tally *tally,
                               uint16_t process);
void helpers_find(struct process_use *uses, size_t count);

/* After a reading whose steps are those that the program marked. Without memory no process is a
 * helper or an errand. */
void helpers_mark(struct model *model, const struct tally *tally);

#endif
