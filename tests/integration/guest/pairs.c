/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs THREADS PAIRS [IMAGES]: each thread allocates and frees so often; then the program becomes
 * itself again, IMAGES times in all. The exit status is 0.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile kept;
static long pairs;

static void *allocate(void *unused)
{
    for (long i = 0; i < pairs; i++) {
        void *block = malloc(40);

        kept = block;
        free(block);
    }
    return unused;
}

int main(int argc, char **argv)
{
    long threads = argc > 2 ? strtol(argv[1], NULL, 10) : 1;
    long images = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    pthread_t *started = calloc((size_t)threads, sizeof(*started));
    char left[32];

    pairs = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    for (long i = 1; i < threads; i++)
        if (pthread_create(&started[i], NULL, allocate, NULL) != 0)
            return 1;
    allocate(NULL);
    for (long i = 1; i < threads; i++)
        pthread_join(started[i], NULL);
    free(started);
    if (images <= 1)
        return 0;
    snprintf(left, sizeof(left), "%ld", images - 1);
    execl("/proc/self/exe", argv[0], argv[1], argv[2], left, NULL);
    return 1;
}
