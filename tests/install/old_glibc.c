/* SPDX-License-Identifier: Apache-2.0 */
/* Each of 40 threads allocates, frees, and leaves 3,000 bytes behind. */
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 40, BLOCKS = 1000 };

static __attribute__((noinline)) void *leave(void)
{
    return malloc(3000);
}

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < BLOCKS; i++) {
        volatile char *block = malloc(100 + (size_t)i);

        block[0] = 1;
        free((void *)block);
    }
    return leave();
}

int main(void)
{
    static void *kept[THREADS];

    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;

        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, &kept[i]);
    }
    return !kept[0];
}
