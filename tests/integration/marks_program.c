/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says something of everything that leaktide/tracer.h can say, from threads and from a child.
 *
 * Blocks are numbers here: a pool may hand out what it likes.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leaktide/tracer.h"

enum { STEPS = 3, THREADS = 4, BLOCKS = 1000, BLOCK_BYTES = 256 };

static const void *block_at(uintptr_t thread, uintptr_t index)
{
    return (const void *)(0x10000000 + (thread * BLOCKS + index) * BLOCK_BYTES);
}

/* Each thread frees what the thread before it has allocated: nobody frees its own. */
static void *allocate(void *argument)
{
    uintptr_t thread = (uintptr_t)argument;

    mt_tag_push(thread % 2 ? "odd" : "even");
    for (uintptr_t i = 0; i < BLOCKS; i++)
        mt_pool_alloc("numbers", 1, block_at(thread, i), BLOCK_BYTES);
    mt_tag_pop();
    return NULL;
}

static void *give_back(void *argument)
{
    uintptr_t thread = ((uintptr_t)argument + 1) % THREADS;

    mt_range_push("give back");
    for (uintptr_t i = 0; i < BLOCKS; i++)
        mt_pool_free("numbers", block_at(thread, i));
    mt_range_pop();
    return NULL;
}

static void on_all_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* The child closes what its parent opened, and goes on. */
static void fork_in_a_range(void)
{
    pid_t child;

    mt_range_push("parent's");
    mt_tag_push("parent's");
    child = fork();
    if (child == 0) {
        mt_range_pop();
        mt_tag_pop();
        mt_mark("child");
        mt_pool_alloc("child's", -1, block_at(0, 0), 1);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    mt_tag_pop();
    mt_range_pop();
}

int main(void)
{
    mt_mark("start \"quoted\"");
    for (int step = 0; step < STEPS; step++) {
        mt_step_begin();
        on_all_threads(allocate);
        mt_pool_reserved("numbers", 1, (uint64_t)1 << 34);
        on_all_threads(give_back);
        if (step == STEPS - 1)
            mt_pool_alloc("numbers", 1, block_at(0, 0), BLOCK_BYTES);
        if (step != 1) /* the next step ends this one */
            mt_step_end();
    }
    fork_in_a_range();
    puts(mt_tracer() ? "traced" : "not traced");
    return 0;
}
