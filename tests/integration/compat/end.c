/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes 1000 blocks from the fake driver and ends in the way that its argument names; or takes and
 * gives back one block again and again, without a mark.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_ascend.h"

enum { BLOCKS = 1000 };

static void take(int count)
{
    for (int i = 0; i < count; i++) {
        void *address = NULL;

        if (halMemAlloc(&address, 4096, 1u << HAL_KIND_SHIFT) != 0)
            abort();
    }
}

static int take_and_give_back(int count)
{
    for (int i = 0; i < count; i++) {
        void *address = NULL;

        if (halMemAlloc(&address, 4096, 1u << HAL_KIND_SHIFT) != 0 || halMemFree(address) != 0)
            abort();
    }
    return 0;
}

static int fork_and_take(void)
{
    pid_t child = fork();

    if (child == 0) {
        take(BLOCKS / 2);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (strcmp(how, "exit") == 0)
        return 3;
    if (strcmp(how, "pairs") == 0)
        return take_and_give_back(BLOCKS);
    aclInit(NULL);
    aclrtSetDevice(0);
    take(BLOCKS);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    return strcmp(how, "fork") == 0 ? fork_and_take() : 0;
}
