/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that allocate device memory and free what others allocated: "ascend_threads BLOCKS".
 * The fake driver gives addresses out again at once, so a free in the wrong order would pair
 * wrongly. Prints what is left, and the books of the fake driver, as ascend_steps.c does.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_ascend.h"

enum { THREADS = 4, SLOTS = 256 };

struct shared_block {
    void *address;
    uint64_t size_bytes;
};

static _Atomic(struct shared_block *) slots[SLOTS];
static long blocks_each;
static atomic_int failures;

static void give_back(struct shared_block *block)
{
    if (!block)
        return;
    if (aclrtFree(block->address) != 0)
        atomic_fetch_add(&failures, 1);
    free(block);
}

static void *churn(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument + 1;

    if (aclrtSetDevice(0) != 0)
        atomic_fetch_add(&failures, 1);
    for (long i = 0; i < blocks_each; i++) {
        struct shared_block *block = malloc(sizeof(*block));

        block->size_bytes = 512 * (uint64_t)(rand_r(&seed) % 64 + 1);
        if (aclrtMallocAlign32(&block->address, block->size_bytes, 0) != 0)
            atomic_fetch_add(&failures, 1);
        give_back(atomic_exchange(&slots[(unsigned)rand_r(&seed) % SLOTS], block));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    blocks_each = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, churn, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < SLOTS; i++) {
        struct shared_block *block = atomic_load(&slots[i]);

        if (block)
            printf("left acl %" PRIuPTR " %" PRIu64 "\n", (uintptr_t)block->address,
                   block->size_bytes);
    }
    printf("books 0 %" PRIu64 " %zu\n", fake_hal_device_bytes(0), fake_hal_device_blocks(0));
    return atomic_load(&failures);
}
