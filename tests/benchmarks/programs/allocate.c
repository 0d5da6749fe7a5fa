/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The adversary of the host heap's hooks: "allocate THREADS EVENTS". A random one of 1024 slots is
 * freed or filled with a block of one of 48 sizes; nothing can be predicted and nothing else is
 * done. Prints wall time and the busiest thread's own processor time, in ns, on one line.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SLOTS = 1024, SIZES = 48, THREADS_MAX = 64 };

static long events_per_thread;

struct worker {
    pthread_t thread;
    uint64_t random;
    uint64_t processor_ns;
};

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    void *slots[SLOTS] = {NULL};
    uint64_t start_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);

    for (long i = 0; i < events_per_thread; i++) {
        unsigned slot;

        worker->random = worker->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        slot = (unsigned)(worker->random >> 33) % SLOTS;
        if (slots[slot]) {
            free(slots[slot]);
            slots[slot] = NULL;
        } else {
            slots[slot] = malloc(16 + (worker->random >> 44) % SIZES * 64);
        }
    }
    worker->processor_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
    for (int i = 0; i < SLOTS; i++)
        free(slots[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    uint64_t start_ns, busiest_ns = 0;

    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    events_per_thread = atol(argv[2]) / threads;
    start_ns = now_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < threads; i++) {
        workers[i].random = (uint64_t)i * 7919 + 1;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].processor_ns > busiest_ns)
            busiest_ns = workers[i].processor_ns;
    }
    printf("%lu %lu\n", (unsigned long)(now_ns(CLOCK_MONOTONIC) - start_ns),
           (unsigned long)busiest_ns);
    return 0;
}
