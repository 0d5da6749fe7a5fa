/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that CPython gives again.
 *
 * Of a float, list, tuple or dict that is freed, CPython keeps the block, and gives it to the next
 * who asks for such an object, without its allocator. So a recording knows who had a block first:
 * a line that makes such objects and drops them at once, where another line keeps what it gets.
 * Each that is kept makes the first line ask for one more, so the first line seems to leak.
 */
#ifndef LEAKTIDE_ANALYSES_GIVEN_AGAIN_H
#define LEAKTIDE_ANALYSES_GIVEN_AGAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "survivors.h"
#include "symbols.h"

/* Is the block of this stack, innermost frame first, one of these? Where names of the interpreter's
 * own functions are not known, some are not seen. */
bool is_given_again(const struct symbol_frame *frames, size_t count);

/*
 * origins: of the process, sorted; the first leak_count leak. Where the first is of such objects,
 * and another tells over the same time who keeps something, that one is put first. Returns the one
 * of such objects, or NULL: there is no doubt about the first, or the two are one line.
 */
const struct survivor_origin *
given_again_settle(struct symbols *symbols, struct survivor_origin *origins, size_t leak_count);

#endif
