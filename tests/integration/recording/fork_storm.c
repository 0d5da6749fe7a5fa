/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks CHILDREN children from several threads while others allocate; each child allocates COUNT
 * blocks of BLOCK_BYTES and leaves without a word: "fork_storm CHILDREN COUNT".
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block_bytes.h"

enum { FORKERS = 3, NOISE_THREADS = 2 };

static long children, blocks;
static _Atomic int is_over;
static _Atomic int failures;

static void *make_noise(void *unused)
{
    (void)unused;
    while (!is_over) {
        void *volatile block = malloc(100);

        free(block);
    }
    return NULL;
}

static void *fork_children(void *unused)
{
    (void)unused;
    for (long i = 0; i < children / FORKERS; i++) {
        pid_t child = fork();
        int status;

        if (child == 0) {
            for (long j = 0; j < blocks; j++) {
                void *volatile block = malloc(BLOCK_BYTES);

                (void)block;
            }
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            failures++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t noise[NOISE_THREADS], forkers[FORKERS];

    if (argc != 3)
        return 2;
    children = atol(argv[1]);
    blocks = atol(argv[2]);
    for (int i = 0; i < NOISE_THREADS; i++)
        pthread_create(&noise[i], NULL, make_noise, NULL);
    for (int i = 0; i < FORKERS; i++)
        pthread_create(&forkers[i], NULL, fork_children, NULL);
    for (int i = 0; i < FORKERS; i++)
        pthread_join(forkers[i], NULL);
    is_over = 1;
    for (int i = 0; i < NOISE_THREADS; i++)
        pthread_join(noise[i], NULL);
    return failures ? 1 : 0;
}
