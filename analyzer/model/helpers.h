/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs around the one that was meant: the shells that lead to it, and what they and it call. A
 * launcher of Python versions makes eighty processes before the first line of Python runs.
 *
 * The process that held most, and is no errand, is meant, and so are all of its executable, those
 * that hold memory of a device, and those with marked steps. Another one is a helper if it was
 * over, and small, before the first that is meant began; or if it held less than a thirty-second of
 * it. Helpers are judged like the others; in texts they come last.
 *
 * An errand is a helper of whatever size: another program that the job calls and that is over long
 * before it: a compiler, say. Where one process makes half of all blocks, an errand is one of
 * another executable that lived within a quarter of its time. What it keeps is given back when it
 * ends. Of many programs that a test driver runs none is an errand: the driver makes few blocks.
 */
#ifndef LEAKTIDE_MODEL_HELPERS_H
#define LEAKTIDE_MODEL_HELPERS_H

#include "tally.h"

/* After a reading whose steps are those that the program marked. Without memory no process is a
 * helper or an errand. */
void helpers_mark(struct model *model, const struct tally *tally);

#endif
