/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAM_NOT_FOUND = 127, LIBRARY_SECONDS = 10 };

static long milliseconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - start->tv_sec) * 1000L + (now.tv_nsec - start->tv_nsec) / 1000000L;
}

/* Until the other end is closed. False: the time is over. */
static bool read_all(int from, unsigned seconds, char *out, size_t out_bytes)
{
    struct timespec start;
    size_t size = 0;
    char rest[512];

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        long left = seconds * 1000L - milliseconds_since(&start);
        struct pollfd watched = {.fd = from, .events = POLLIN};
        bool is_full = size + 1 >= out_bytes;
        ssize_t got;

        if (left <= 0 || poll(&watched, 1, (int)left) == 0)
            return false;
        got =
            read(from, is_full ? rest : out + size, is_full ? sizeof(rest) : out_bytes - 1 - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return true;
        if (!is_full)
            size += (size_t)got;
        out[size] = 0;
    }
}

/* In the child. */
static void be_alone(int output)
{
    int nowhere = open("/dev/null", O_RDWR);

    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDERR_FILENO);
    dup2(output, STDOUT_FILENO);
    close(nowhere);
    close(output);
}

int probe(int (*child)(const void *context), const void *context, unsigned seconds, char *out,
          size_t out_bytes)
{
    int ends[2], status = -1;
    pid_t pid;

    out[0] = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        be_alone(ends[1]);
        _exit(child(context));
    }
    close(ends[1]);
    if (pid > 0) {
        if (!read_all(ends[0], seconds, out, out_bytes))
            kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int become(const void *context)
{
    const char *const *arguments = context;

    execvp(arguments[0], (char *const *)arguments);
    return PROGRAM_NOT_FOUND;
}

int probe_program(const char *const *arguments, unsigned seconds, char *out, size_t out_bytes)
{
    return probe(become, arguments, seconds, out, out_bytes);
}

static int load(const void *context)
{
    void *library = dlopen(context, RTLD_LAZY | RTLD_LOCAL);
    struct link_map *map;

    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return 1;
    (void)!write(STDOUT_FILENO, map->l_name, strlen(map->l_name));
    return 0;
}

bool probe_library(const char *name, char *path, size_t path_bytes)
{
    return probe(load, name, LIBRARY_SECONDS, path, path_bytes) == 0;
}
