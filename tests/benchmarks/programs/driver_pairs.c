/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a block from the fake driver and gives it back, again and again, 30 calls deep; prints the
 * nanoseconds of one of the two calls.
 *
 *   driver_pairs COUNT
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fake_ascend.h"

enum { DEPTH = 30 };

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static __attribute__((noinline)) void run(long count, int depth)
{
    void *address = NULL;

    if (depth) {
        run(count, depth - 1);
        __asm__ volatile(""); /* no jump instead of the call */
        return;
    }
    for (long i = 0; i < count; i++) {
        halMemAlloc(&address, 4096, 1u << HAL_KIND_SHIFT);
        halMemFree(address);
    }
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    double begin;

    run(count / 10 + 1, DEPTH);
    begin = now_ns();
    run(count, DEPTH);
    printf("%.2f\n", (now_ns() - begin) / (2.0 * (double)(count ? count : 1)));
    return 0;
}
