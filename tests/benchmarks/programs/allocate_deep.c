/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates at the end of call paths: "allocate_deep THREADS EVENTS DEPTH BATCH". A path of DEPTH
 * calls takes one of two functions at each of its last eight; at its end BATCH events happen: a
 * random one of 1024 slots is freed or filled. BATCH 1 is the adversary of whoever remembers
 * stacks: each event has another one, and the calls themselves cannot be foreseen.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { SLOTS = 1024, SIZES = 48, THREADS_MAX = 64, TURNS = 8 };

struct worker {
    pthread_t thread;
    uint64_t random;
    void *slots[SLOTS];
};

static long events_per_thread, depth, batch;

static uint32_t random_next(struct worker *worker)
{
    worker->random = worker->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(worker->random >> 33);
}

static NOINLINE void work_here(struct worker *worker)
{
    for (long i = 0; i < batch; i++) {
        uint32_t random = random_next(worker);
        void **slot = &worker->slots[random % SLOTS];

        if (*slot) {
            free(*slot);
            *slot = NULL;
        } else {
            *slot = malloc(16 + (random >> 12) % SIZES * 64);
        }
    }
}

static NOINLINE void descend_left(struct worker *worker, long left, uint32_t turns);

static NOINLINE void descend_right(struct worker *worker, long left, uint32_t turns)
{
    if (left == 0)
        work_here(worker);
    else if (left <= TURNS && turns >> left & 1)
        descend_left(worker, left - 1, turns);
    else
        descend_right(worker, left - 1, turns);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static NOINLINE void descend_left(struct worker *worker, long left, uint32_t turns)
{
    if (left == 0)
        work_here(worker);
    else if (left <= TURNS && turns >> left & 1)
        descend_left(worker, left - 1, turns);
    else
        descend_right(worker, left - 1, turns);
    __asm__ volatile("" ::: "memory");
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    for (long done = 0; done < events_per_thread; done += batch)
        descend_right(worker, depth, random_next(worker));
    for (int i = 0; i < SLOTS; i++)
        free(worker->slots[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS_MAX];
    int threads = argc == 5 ? atoi(argv[1]) : 0;

    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    events_per_thread = atol(argv[2]) / threads;
    depth = atol(argv[3]);
    batch = atol(argv[4]);
    for (int i = 0; i < threads; i++) {
        workers[i].random = (uint64_t)i * 7919 + 1;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    return 0;
}
