/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects are loaded where: a `module` record is written for each before its addresses can
 * only be guessed, and a `module_gone` record when one has left.
 */
#ifndef MEMTIDE_TRACER_MODULE_LIST_H
#define MEMTIDE_TRACER_MODULE_LIST_H

#include <stdbool.h>

/*
 * Looks at the loader's list and writes what is new. Takes the loader's lock: call it from the
 * drain thread, from a constructor or around dlclose, never from inside an allocation.
 */
void modules_record_changes(void);

/* Has fork() wait, for a moment at most, until the list is whole. Call once. */
void modules_prepare_for_forks(void);

/* Writes all known modules again, without asking the loader: in a forked child. */
void modules_record_again(void);

#endif
