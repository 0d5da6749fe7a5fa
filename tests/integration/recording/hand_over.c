/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THREADS threads allocate and free COUNT blocks each; most blocks are freed by another thread
 * than the one that made them, so that addresses wander. "hand_over THREADS COUNT LOG" writes to
 * LOG, for every block, its address, its size and a number that grows with time: the truth that
 * the trace is compared with.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "hand_over.h"

enum { SHARED_SLOTS = 4096, SIZES = 5 };

struct worker {
    pthread_t thread;
    uint64_t random;
    long count;
    struct life *lives;
};

static _Atomic(void *) slots[SHARED_SLOTS];
static _Atomic uint64_t clock_number;

static uint64_t next_random(struct worker *worker)
{
    worker->random = worker->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return worker->random >> 33;
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    for (long i = 0; i < worker->count; i++) {
        uint64_t chance = next_random(worker);
        size_t size = HAND_OVER_BYTES + chance % SIZES;
        void *block = malloc(size);

        worker->lives[i] =
            (struct life){(uintptr_t)block, size, atomic_fetch_add(&clock_number, 1)};
        free(atomic_exchange(&slots[chance / SIZES % SHARED_SLOTS], block));
    }
    return NULL;
}

static int log_write(const char *path, const struct worker *workers, int threads)
{
    FILE *log = fopen(path, "wb");

    if (!log)
        return 1;
    for (int i = 0; i < threads; i++)
        fwrite(workers[i].lives, sizeof(struct life), (size_t)workers[i].count, log);
    return fclose(log) != 0;
}

int main(int argc, char **argv)
{
    int threads = argc == 4 ? atoi(argv[1]) : 0;
    struct worker *workers = calloc((size_t)threads + 1, sizeof(*workers));

    if (!threads || !workers)
        return 2;
    for (int i = 0; i < threads; i++) {
        workers[i].random = (uint64_t)i * 7919 + 1;
        workers[i].count = atol(argv[2]);
        workers[i].lives = calloc((size_t)workers[i].count, sizeof(struct life));
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < SHARED_SLOTS; i++)
        free(slots[i]);
    return log_write(argv[3], workers, threads);
}
