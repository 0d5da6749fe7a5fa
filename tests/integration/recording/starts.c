/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program in the way that is asked for, and ends as it does.
 *
 *     starts WAY PROGRAM [ARGUMENT]
 *     starts errors NAME       each way that fails must leave the C library's errno
 *
 * The folder of PROGRAM is the whole PATH for the ways that search.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *program, *argument, *name;
static char *arguments[3];

static void by_execve(void)
{
    execve(program, arguments, environ);
}

static void by_execv(void)
{
    execv(program, arguments);
}

static void by_execvp(void)
{
    execvp(name, arguments);
}

static void by_execvpe(void)
{
    execvpe(name, arguments, environ);
}

static void by_execl(void)
{
    execl(program, program, argument, (char *)NULL);
}

static void by_execlp(void)
{
    execlp(name, program, argument, (char *)NULL);
}

static void by_execle(void)
{
    if (argument)
        execle(program, program, argument, (char *)NULL, environ);
    else
        execle(program, program, (char *)NULL, environ);
}

static void by_fexecve(void)
{
    fexecve(open(program, O_RDONLY | O_CLOEXEC), arguments, environ);
}

static void by_execveat(void)
{
    char copy[4096];

    snprintf(copy, sizeof(copy), "%s", program);
    execveat(open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC), name, arguments, environ, 0);
}

static void by_execveat_file(void)
{
    execveat(open(program, O_PATH | O_CLOEXEC), "", arguments, environ, AT_EMPTY_PATH);
}

static void end_with(pid_t process)
{
    int status = -1;

    if (waitpid(process, &status, 0) == process && WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    _exit(99);
}

static int lowest_descriptor(void)
{
    int lowest = dup(0);

    close(lowest);
    return lowest;
}

/* Looking at a program leaves no file open. (Other threads may have one open for a moment.) */
static void by_posix_spawn(void)
{
    int before = lowest_descriptor(), tries = 0;
    pid_t process = 0;

    errno = posix_spawn(&process, program, NULL, NULL, arguments, environ);
    if (errno)
        return;
    while (lowest_descriptor() != before)
        if (tries++ == 1000)
            _exit(96);
    end_with(process);
}

static void by_posix_spawnp(void)
{
    pid_t process = 0;

    errno = posix_spawnp(&process, name, NULL, NULL, arguments, environ);
    if (!errno)
        end_with(process);
}

static void by_vfork(void)
{
    pid_t process = vfork();

    if (process == 0) {
        execvp(name, arguments);
        _exit(98);
    }
    end_with(process);
}

static void by_system(void)
{
    char command[8192];
    int status;

    snprintf(command, sizeof(command), "'%s' %s", program, argument ? argument : "");
    status = system(command);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static const struct way {
    const char *name;
    void (*start)(void);
    int bad_errno; /* where there is no such program */
} ways[] = {
    {"execve", by_execve, ENOENT},
    {"execv", by_execv, ENOENT},
    {"execvp", by_execvp, ENOENT},
    {"execvpe", by_execvpe, ENOENT},
    {"execl", by_execl, ENOENT},
    {"execlp", by_execlp, ENOENT},
    {"execle", by_execle, ENOENT},
    {"fexecve", by_fexecve, EINVAL},
    {"execveat", by_execveat, EBADF},
    {"execveat-file", by_execveat_file, EBADF},
    {"posix_spawn", by_posix_spawn, ENOENT},
    {"posix_spawnp", by_posix_spawnp, ENOENT},
    {"vfork", by_vfork, 0},
    {"system", by_system, 0},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static int try_errors(void)
{
    int wrong_count = 0;

    for (int i = 0; i < WAYS && ways[i].bad_errno; i++) {
        int expected = ways[i].bad_errno;

        errno = 0;
        ways[i].start();
        if (errno != expected) {
            printf("%s: %s\n", ways[i].name, strerror(errno));
            wrong_count++;
        }
    }
    return wrong_count != 0;
}

int main(int argc, char **argv)
{
    char folder[4096];

    if (argc < 3)
        return 2;
    program = argv[2];
    argument = argc > 3 ? argv[3] : NULL;
    name = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
    arguments[0] = program;
    arguments[1] = argument;
    snprintf(folder, sizeof(folder), "/nowhere:%.*s", (int)(name - program), program);
    setenv("PATH", folder, 1);
    if (strcmp(argv[1], "errors") == 0)
        return try_errors();
    for (int i = 0; i < WAYS; i++)
        if (strcmp(ways[i].name, argv[1]) == 0)
            ways[i].start();
    perror(argv[1]);
    return 97;
}
