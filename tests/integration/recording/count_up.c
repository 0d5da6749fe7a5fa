/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates and frees until somebody kills it, on THREADS threads: "count_up THREADS FILE". Each
 * thread keeps in FILE, a shared mapping, how many events it has certainly behind it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "block_bytes.h"

enum { THREADS_MAX = 16, STRIDE = 8 };

static volatile uint64_t *counters;

static void *count(void *argument)
{
    volatile uint64_t *counter = &counters[(uintptr_t)argument * STRIDE];

    for (;;) {
        void *volatile block = malloc(BLOCK_BYTES);

        ++*counter;
        free(block);
        ++*counter;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc == 3 ? atoi(argv[1]) : 0;
    int file = argc == 3 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
    pthread_t thread;

    if (threads < 1 || threads > THREADS_MAX || file < 0 ||
        ftruncate(file, THREADS_MAX * STRIDE * sizeof(uint64_t)) != 0)
        return 2;
    counters = mmap(NULL, THREADS_MAX * STRIDE * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                    MAP_SHARED, file, 0);
    if (counters == MAP_FAILED)
        return 2;
    for (int i = 1; i < threads; i++)
        pthread_create(&thread, NULL, count, (void *)(uintptr_t)i);
    count(NULL);
    return 0;
}
