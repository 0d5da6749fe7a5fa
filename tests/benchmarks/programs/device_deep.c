/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory allocated and freed at the end of DEPTH calls: "device_deep EVENTS DEPTH". Prints
 * the thread's own processor time in ns. Runs on the fake CUDA runtime.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

int cudaMalloc(void **address, size_t size_bytes);
int cudaFree(void *address);

static NOINLINE void allocate(long events)
{
    for (long i = 0; i < events / 2; i++) {
        void *block = NULL;

        if (cudaMalloc(&block, 512) != 0 || cudaFree(block) != 0)
            exit(1);
    }
}

static NOINLINE void descend(long depth, long events)
{
    if (depth)
        descend(depth - 1, events);
    else
        allocate(events);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

int main(int argc, char **argv)
{
    struct timespec before, after;

    if (argc != 3)
        return 2;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    descend(atol(argv[2]), atol(argv[1]));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    printf("%lld\n",
           (long long)(after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec);
    return 0;
}
