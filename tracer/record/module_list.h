/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects are loaded where: a `module` record is written for each soon after it came, and a
 * `module_gone` record when one has left.
 *
 * The list is kept from the start, also while nothing is recorded yet. Locks are taken in one
 * order, the loader's before the list's, and whoever has the list waits for nothing else.
 */
#ifndef LEAKTIDE_TRACER_MODULE_LIST_H
#define LEAKTIDE_TRACER_MODULE_LIST_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Looks at the loader's list and writes what is new. Takes the loader's lock: call it from a
 * constructor or around calls of the loader, never from inside an allocation.
 */
void modules_record_changes(void);

/* The program is about to open an object; nobody looks when that is done. */
void modules_may_come(void);

/* The same, where objects may have come that nobody has looked at, and this is no inner call. */
void modules_look_slowly(void);
extern atomic_bool modules_may_have_come;
static inline void modules_look_if_they_came(void)
{
    if (atomic_load_explicit(&modules_may_have_come, memory_order_relaxed))
        modules_look_slowly();
}

/* Before and after an object leaves. Takes the loader's lock. */
void modules_may_leave(void);

/* Has fork() wait, for a moment at most, until the list is whole. Call once. */
void modules_prepare_for_forks(void);

/* The first records of a process image: all known modules, without asking the loader. */
void modules_introduce(void);

#endif
