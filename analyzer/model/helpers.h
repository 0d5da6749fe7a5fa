/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small programs around the one that was meant: the shells that lead to it, and what those call. A
 * launcher of Python versions makes eighty processes before the first line of Python runs.
 *
 * The process that held most is meant, and so are all of its executable, those that hold memory of
 * a device, and those with marked steps. Another one is a helper if it was over, and small, before
 * the first that is meant began; or if it held less than a thirty-second of it. Helpers are judged
 * like the others; in texts they come last.
 */
#ifndef LEAKTIDE_MODEL_HELPERS_H
#define LEAKTIDE_MODEL_HELPERS_H

#include "tally.h"

/* After a reading whose steps are those that the program marked. Asks for no memory: without it no
 * process is a helper. */
void helpers_mark(struct model *model, const struct tally *tally);

#endif
