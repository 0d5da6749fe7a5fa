/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack columns of msmemscope: lines of Python and of native code, made once for each site.
 */
#ifndef LEAKTIDE_MEMSCOPE_STACKS_H
#define LEAKTIDE_MEMSCOPE_STACKS_H

#include "analysis.h"
#include "arena.h"
#include "table.h"

struct memscope_stacks {
    const struct question *question;
    struct arena arena;
    struct table rows; /* struct stack_row, by site */
};

void memscope_stacks_init(struct memscope_stacks *stacks, const struct question *question);
void memscope_stacks_release(struct memscope_stacks *stacks);

/* Lines, innermost first; "" for none. Borrowed until memscope_stacks_release(). */
void memscope_stacks_of(struct memscope_stacks *stacks, uint32_t site, const char **python,
                        const char **native);

#endif
