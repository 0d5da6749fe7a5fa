/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of our functions between an interpreter and its allocator.
 */
#define _GNU_SOURCE
#include <stdint.h>

#include "death.h"
#include "python_heap.c"

static void make(void)
{
}

static struct unwind_registers nowhere;

DAMAGE(make, made_while_freeing, python_call.block = 16; made(NULL, 8, &nowhere))
DAMAGE(make, freed_nothing, freed(NULL, 0, &nowhere))
DAMAGE(make, cover_on_cover, cover_for(1, &(struct allocator){.malloc = cover_malloc}))

int main(void)
{
    return deaths_run();
}
