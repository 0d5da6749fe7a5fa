/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that move the cursor, turn the writing, break lines, close quotes or begin like a formula:
 * of pools, owners, operators, marks and threads. Every pool leaks a block a step.
 *
 * Blocks are numbers here: a pool may hand out what it likes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "leaktide/tracer.h"

enum { STEPS = 24, BLOCK_BYTES = 4096, KEPT_BYTES = 64 };

static const char *const names[] = {
    "\x1b[31mred\x1b]0;T\a",
    "left\xe2\x80\xaeright\xe2\x81\xa6 mark\xe2\x80\x8f",
    "no UTF-8 \xff\xfe",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "+1+cmd",
    "-1+cmd",
    "\t=tab",
    "line\nbreak\rreturn",
    "C1 \xc2\x9b"
    "31m",
    "</script><b onload='x'>&\"",
    "| `code` [link](there) \\",
    "\",=cmd,\"",
    "%0A::error::a,b:c;d",
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

static const void *block_at(uintptr_t step, uintptr_t name, uintptr_t which)
{
    return (const void *)(0x10000000 + ((step * NAMES + name) * 2 + which) * BLOCK_BYTES);
}

static void work(uintptr_t step, uintptr_t name)
{
    mt_tag_push(names[(name + 1) % NAMES]);
    mt_range_push(names[(name + 2) % NAMES]);
    mt_mark(names[(name + 3) % NAMES]);
    mt_pool_alloc(names[name], 0, block_at(step, name, 0), BLOCK_BYTES);
    mt_pool_alloc(names[name], 0, block_at(step, name, 1), KEPT_BYTES);
    mt_pool_free(names[name], block_at(step, name, 0));
    mt_range_pop();
    mt_tag_pop();
}

int main(void)
{
    prctl(PR_SET_NAME, "\x1b[7m\xe2\x80\xae=a\xff");
    for (uintptr_t step = 0; step < STEPS; step++) {
        mt_step_begin();
        for (uintptr_t name = 0; name < NAMES; name++) {
            work(step, name);
            free(malloc(100)); /* memory of the host's, for its report */
        }
        mt_step_end();
    }
    return 0;
}
