/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that needs little address space: so many threads as the argument says allocate and
 * free. Ends with status 3 when a thread cannot be made, and with 4 when a block cannot; with a
 * second argument it kills itself instead.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 16, ROUNDS = 100, BLOCKS = 50, STACK_BYTES = 1 << 18 };

static _Atomic int missing_count;

static void *work(void *argument)
{
    char *blocks[BLOCKS];

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i] = malloc((size_t)(100 + i * round % 3000));
            if (blocks[i])
                blocks[i][0] = 1;
            else
                atomic_fetch_add(&missing_count, 1);
        }
        for (int i = 0; i < BLOCKS; i++)
            free(blocks[i]);
    }
    return argument;
}

int main(int argc, char **argv)
{
    int wanted = argc > 1 ? atoi(argv[1]) : 0, made = 0;
    pthread_t threads[THREADS_MAX];
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (made < wanted && made < THREADS_MAX &&
           pthread_create(&threads[made], &attributes, work, NULL) == 0)
        made++;
    work(NULL);
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    if (argc > 2)
        raise(SIGKILL);
    puts("done");
    if (missing_count)
        return 4;
    return made == wanted ? 0 : 3;
}
