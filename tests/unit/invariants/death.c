/* SPDX-License-Identifier: Apache-2.0 */
#include "death.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "leaktide/invariant.h"

enum { DEATHS_MAX = 512 };

struct death {
    const char *name;
    void (*make)(void);
    void (*damage)(void);
};

static struct death deaths[DEATHS_MAX];
static size_t death_count;

void death_expect(const char *name, void (*make)(void), void (*damage)(void))
{
    if (death_count == DEATHS_MAX)
        abort();
    deaths[death_count++] = (struct death){name, make, damage};
}

/* What the child says, and 0, or the status with which it went on. */
static int die(const struct death *death, char *said, size_t size)
{
    int ends[2], status = 0;
    ssize_t length;
    pid_t child;

    if (pipe(ends) != 0)
        return -1;
    child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        death->make();
        dup2(ends[1], STDERR_FILENO);
        death->damage();
        _exit(0);
    }
    close(ends[1]);
    length = read(ends[0], said, size - 1);
    said[length > 0 ? length : 0] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 0 : status ? status : -1;
}

static void fires(void **state)
{
    char said[512];
    int status = die(*state, said, sizeof(said));

    if (status || !strstr(said, ": not so: "))
        fail_msg("went on with status %d: %s", status, said);
    printf("fired %s", said);
}

int deaths_run(void)
{
    struct CMUnitTest tests[DEATHS_MAX];

    for (size_t i = 0; i < death_count; i++)
        tests[i] = (struct CMUnitTest){
            .name = deaths[i].name, .test_func = fires, .initial_state = &deaths[i]};
    return MT_ASSERTS ? _cmocka_run_group_tests("deaths", tests, death_count, NULL, NULL) : 77;
}
