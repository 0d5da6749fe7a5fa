/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates COUNT blocks of BLOCK_BYTES, frees every second one, and ends in the way that is asked
 * for: "alloc_then COUNT WAY". What it does is known to the event, so a test can count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block_bytes.h"

static long count;

static void *allocate(void *unused)
{
    (void)unused;
    for (long i = 0; i < count; i++) {
        void *volatile block = malloc(BLOCK_BYTES);

        if (i % 2)
            free(block);
    }
    return NULL;
}

static void end_by_segv(void)
{
    raise(SIGSEGV);
}

static void end_by_kill(void)
{
    kill(getpid(), SIGKILL);
}

static void end_by_exit_at_once(void)
{
    _exit(0);
}

static void end_by_exit(void)
{
    exit(0);
}

static void end_by_exec(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

static void end_in_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, allocate, NULL);
    pthread_join(thread, NULL);
    _exit(0);
}

static void end_in_fork(void)
{
    int status;

    if (fork() == 0) {
        allocate(NULL);
        _exit(0);
    }
    wait(&status);
    _exit(0);
}

static void end_in_vfork(void)
{
    int status;

    if (vfork() == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    wait(&status);
    _exit(0);
}

/* Closes what it did not open, as daemons do, and goes on. */
static void end_with_descriptors_closed(void)
{
    for (int descriptor = 3; descriptor < 1024; descriptor++)
        close(descriptor);
    allocate(NULL);
    _exit(0);
}

static void end_after_dlclose(void)
{
    for (int i = 0; i < 3; i++) {
        void *library = dlopen("libm.so.6", RTLD_NOW);

        if (library)
            dlclose(library);
    }
    _exit(0);
}

static const struct {
    const char *name;
    void (*end)(void);
} ways[] = {
    {"exit", end_by_exit},
    {"_exit", end_by_exit_at_once},
    {"abort", abort},
    {"segv", end_by_segv},
    {"kill", end_by_kill},
    {"exec", end_by_exec},
    {"thread", end_in_thread},
    {"fork", end_in_fork},
    {"vfork", end_in_vfork},
    {"closed", end_with_descriptors_closed},
    {"dlclose", end_after_dlclose},
};

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    count = atol(argv[1]);
    allocate(NULL);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (strcmp(argv[2], ways[i].name) == 0)
            ways[i].end();
    return 2;
}
