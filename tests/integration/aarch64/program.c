/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates in two threads and keeps one block: what tracer_test.sh looks for. */
#include <pthread.h>
#include <stdlib.h>

enum { TURNS = 1000, TURN_BYTES = 7001, KEPT_BYTES = 123457 };

void *kept; /* so that nothing is left out */

__attribute__((noinline)) void *leaf(size_t size_bytes)
{
    kept = malloc(size_bytes);
    return kept;
}

__attribute__((noinline)) void *branch(int depth, size_t size_bytes)
{
    void *block = depth ? branch(depth - 1, size_bytes) : leaf(size_bytes);

    __asm__ volatile("" ::: "memory"); /* no jump instead of the last call */
    return block;
}

static void *work(void *argument)
{
    for (int i = 0; i < TURNS; i++)
        free(branch(5, TURN_BYTES));
    return argument;
}

int main(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return branch(9, KEPT_BYTES) == NULL;
}
