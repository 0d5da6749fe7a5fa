/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The leaks of a verdict, and names for them that nothing else has.
 */
#ifndef LEAKTIDE_ANALYSES_LEAK_LIST_H
#define LEAKTIDE_ANALYSES_LEAK_LIST_H

#include "verdict.h"

struct leak_list {
    struct leak *rows; /* for free() */
    size_t count, capacity;
    bool has_failed;
};

/* Of what judged: its survivors, sites and ledgers are there. Names its sites, too. */
void leak_list_make(const struct question *question, const struct verdict *judged,
                    struct arena *arena, struct leak_list *list);

#endif
