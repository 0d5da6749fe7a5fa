/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates and frees until somebody kills it: "count_up THREADS FILE [FORKS]". Each thread, of the
 * program and of its forks, keeps in FILE, a shared mapping, how many events it has certainly
 * after it; each process says there who it is.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "block_bytes.h"
#include "count_up.h"

static volatile struct count_up_ledger *ledger;

static void *count(void *argument)
{
    volatile uint64_t *counter = &ledger->lanes[(uintptr_t)argument].event_count;

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
    int threads = argc > 2 ? atoi(argv[1]) : 0;
    int forks = argc > 3 ? atoi(argv[3]) : 0, own = 0;
    int file = argc > 2 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
    pthread_t thread;

    if (threads < 1 || forks < 0 || threads * (1 + forks) > COUNT_UP_LANES || file < 0 ||
        ftruncate(file, sizeof(*ledger)) != 0)
        return 2;
    ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (ledger == MAP_FAILED)
        return 2;
    for (int i = 1; i <= forks && !own; i++)
        if (fork() == 0)
            own = i;
    ledger->process_ids[own] = getpid();
    for (int i = 1; i < threads; i++)
        pthread_create(&thread, NULL, count, (void *)(uintptr_t)(own * threads + i));
    count((void *)(uintptr_t)(own * threads));
    return 0;
}
