/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that everybody asks for memory: a program's own xmalloc, zmalloc, new_buffer.
 *
 * No list names them. They are known by their callers: a native function that would name the sites
 * of WRAPPER_CALLERS others, in WRAPPER_FILES files where files are known, says little about any of
 * them; its callers do. What is left may be such a function again, so the stacks are shown several
 * times. One thread at a time.
 */
#ifndef LEAKTIDE_WRAPPERS_H
#define LEAKTIDE_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "frame_names.h"
#include "keyed_table.h"

enum { WRAPPER_CALLERS = 16, WRAPPER_FILES = 4, WRAPPER_ROUNDS = 3 };

struct wrappers {
    struct arena arena;
    struct keyed_table functions, pairs; /* pairs: of function and caller, or function and file */
};

void wrappers_init(struct wrappers *wrappers);
void wrappers_release(struct wrappers *wrappers);

/* One stack, innermost first; what memory runs out for is not counted. */
void wrappers_see(struct wrappers *wrappers, const struct named_frame *const *frames, size_t count);
/* After all stacks were seen. False: there is no new one, and another round would find none. */
bool wrappers_find(struct wrappers *wrappers);

/*
 * The frame that the stack's site is named after: telling_frame(), outward past wrappers, and past
 * functions without a name where a caller of the same module has one.
 */
size_t wrappers_telling(const struct wrappers *wrappers, const struct named_frame *const *frames,
                        size_t count);
/* Whether that is the telling frame itself, whoever calls it. */
bool wrappers_keep(const struct wrappers *wrappers, const struct named_frame *telling);

#endif
