/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One helper allocates for two callers: what copy() makes stays, what cycle() makes is freed 40
 * steps later.
 */
#include <stdlib.h>
#include <string.h>

#include <leaktide/tracer.h>

enum { STEPS = 60, LATE = 40 };

static void *waiting[STEPS], *keep[STEPS];

__attribute__((noinline)) static void *make(size_t size)
{
    void *block = malloc(size);
    memset(block, 1, size);
    return block;
}

__attribute__((noinline)) static void *copy(void)
{
    void *block = make(4000);
    __asm__ volatile("");
    return block;
}

__attribute__((noinline)) static void *cycle(void)
{
    void *block = make(3000);
    __asm__ volatile("");
    return block;
}

int main(void)
{
    for (int step = 0; step < STEPS; step++) {
        mt_step_begin();
        for (int i = 0; i < 20; i++) {
            void *block = malloc(100);
            __asm__ volatile("" : : "r"(block) : "memory");
            free(block);
        }
        keep[step] = copy();
        waiting[step] = cycle();
        if (step >= LATE)
            free(waiting[step - LATE]);
        mt_step_end();
    }
    return keep[0] == NULL;
}
