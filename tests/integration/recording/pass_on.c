/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "pass_on PAIRS COUNT": in each pair of threads, one makes COUNT blocks and the other frees them,
 * the newest as soon as it can see it.
 *
 * Nothing here makes the processor wait for the load that brings the newest block: no locked
 * instruction, and no branch that could be predicted wrongly, for when there is nothing new, the
 * other thread frees a spare block of its own. So whoever stamps that free with a counter that is
 * read ahead of the load, stamps it before the alloc.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { PAIRS_MAX = 32, QUEUE_BLOCKS = 64, PATIENCE = 64, BLOCK_BYTES = 40 };

/* made - freed blocks are in the queue; what one thread writes has cache lines of its own. */
struct pair {
    _Alignas(128) _Atomic uint64_t made;
    void *_Atomic blocks[QUEUE_BLOCKS];
    _Alignas(128) _Atomic uint64_t freed;
    pthread_t maker, ender;
};

static struct pair pairs[PAIRS_MAX];
static uint64_t count;

static void *make_blocks(void *argument)
{
    struct pair *pair = argument;

    for (uint64_t i = 0; i < count; i++) {
        while (i - atomic_load_explicit(&pair->freed, memory_order_acquire) == QUEUE_BLOCKS)
            sched_yield();
        atomic_store_explicit(&pair->blocks[i % QUEUE_BLOCKS], malloc(BLOCK_BYTES),
                              memory_order_relaxed);
        atomic_store_explicit(&pair->made, i + 1, memory_order_release);
    }
    return NULL;
}

static void free_from_queue(struct pair *pair, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++)
        free(atomic_load_explicit(&pair->blocks[i % QUEUE_BLOCKS], memory_order_relaxed));
}

static void *end_blocks(void *argument)
{
    struct pair *pair = argument;
    void *spare = malloc(BLOCK_BYTES);
    uint64_t freed = 0, waits = 0;

    while (freed < count) {
        uint64_t made = atomic_load_explicit(&pair->made, memory_order_acquire);
        void *choice[] = {spare, atomic_load_explicit(&pair->blocks[(made - 1) % QUEUE_BLOCKS],
                                                      memory_order_relaxed)};

        free(choice[made != freed]);
        if (made == freed) {
            spare = malloc(BLOCK_BYTES);
            if (++waits % PATIENCE == 0)
                sched_yield();
            continue;
        }
        free_from_queue(pair, freed, made - 1);
        freed = made;
        atomic_store_explicit(&pair->freed, freed, memory_order_release);
    }
    free(spare);
    return NULL;
}

int main(int argc, char **argv)
{
    int pair_count = argc == 3 ? atoi(argv[1]) : 0;

    if (pair_count < 1 || pair_count > PAIRS_MAX)
        return 2;
    count = strtoull(argv[2], NULL, 10);
    for (int i = 0; i < pair_count; i++) {
        pthread_create(&pairs[i].maker, NULL, make_blocks, &pairs[i]);
        pthread_create(&pairs[i].ender, NULL, end_blocks, &pairs[i]);
    }
    for (int i = 0; i < pair_count; i++) {
        pthread_join(pairs[i].maker, NULL);
        pthread_join(pairs[i].ender, NULL);
    }
    return 0;
}
