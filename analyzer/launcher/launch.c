/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program under the tracer and stays beside it until it ends.
 *
 * The program keeps our process group and terminal, so keys reach it by themselves; only what
 * another process sends to us is passed on to it.
 */
#define _GNU_SOURCE
#include "launch.h"

#include "bus_errors.h"
#include "consumer_care.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "leaktide/preload.h"

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static void watched_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
        sigaddset(set, passed_on[i]);
}

/* Ours first: the others in the list may look for functions behind us. */
static bool environment_prepend(const char *name, const char *value, char separator)
{
    const char *old = getenv(name);
    char *joined = NULL;
    bool is_ok;

    if (!old || !*old)
        return setenv(name, value, 1) == 0;
    if (asprintf(&joined, "%s%c%s", value, separator, old) < 0)
        return false;
    is_ok = setenv(name, joined, 1) == 0;
    free(joined);
    return is_ok;
}

/* A sanitizer's runtime goes before all; of a program in which the tracer cannot live, it is taken
 * out. */
static bool preload_order(const struct mt_program_needs *needs)
{
    const char *list = getenv("LD_PRELOAD");
    size_t size_bytes = strlen(list) + strlen(needs->runtime) + sizeof("::");
    char *ordered;
    bool is_ok;

    if (needs->kind == MT_PROGRAM_FITS && !needs->runtime[0])
        return true;
    ordered = malloc(size_bytes);
    is_ok = ordered && mt_preload_for(list, needs, ordered, size_bytes) &&
            setenv("LD_PRELOAD", ordered, 1) == 0;

    free(ordered);
    return is_ok;
}

static bool environment_make(const struct launch *launch)
{
    return environment_prepend("LD_PRELOAD", launch->tracer, ':') &&
           preload_order(&launch->needs) && setenv("LEAKTIDE_OPTIONS", launch->options, 1) == 0 &&
           (!launch->layer || environment_prepend("OPENCL_LAYERS", launch->layer, ':'));
}

/* In the child: tells through the pipe, which exec closes, why it could not start. */
static void become(const struct launch *launch, const sigset_t *old_mask, int report)
{
    int failure = ENOMEM;

    if (launch->consumer)
        bus_errors_as_before();
    sigprocmask(SIG_SETMASK, old_mask, NULL);
    if (environment_make(launch)) {
        execvp(launch->arguments[0], launch->arguments);
        failure = errno;
    }
    (void)!write(report, &failure, sizeof(failure));
    _exit(127);
}

/* True when the program has ended. Other children are the consumer, or not ours to care for. */
static bool reap(const struct launch *launch, pid_t child, struct launch_end *end)
{
    int status;
    pid_t ended;

    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
        if (ended == child) {
            end->process_id = (uint32_t)child;
            end->wait_status = status;
            end->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            return true;
        }
        consumer_care_child_ended(launch->consumer, ended);
    }
    return ended < 0 && errno == ECHILD;
}

static void wait_for(const struct launch *launch, pid_t child, const sigset_t *watched,
                     struct launch_end *end)
{
    const struct timespec pause = {.tv_nsec = PROGRESS_MS * 1000000L};
    siginfo_t info;

    while (!reap(launch, child, end)) {
        bool looks_again = launch->progress || launch->consumer;
        int got = looks_again ? sigtimedwait(watched, &info, &pause) : sigwaitinfo(watched, &info);

        consumer_care_look(launch->consumer);
        if (got < 0) {
            if (errno == EAGAIN && launch->progress)
                launch->progress(launch->context);
        } else if (got != SIGCHLD && info.si_code <= 0) {
            kill(child, got); /* from a process; what the terminal sends, the program got too */
        }
    }
}

enum mt_result launch_and_wait(const struct launch *launch, struct launch_end *end,
                               struct mt_error *error)
{
    struct sigaction on_child = {.sa_handler = SIG_DFL}, old_on_child;
    sigset_t watched, old_mask;
    int report[2];
    pid_t child;

    *end = (struct launch_end){0};
    if (pipe2(report, O_CLOEXEC) != 0)
        return mt_error_set(error, MT_IO, "no pipe: %s", strerror(errno));
    watched_set(&watched);
    sigprocmask(SIG_BLOCK, &watched, &old_mask);
    /* Ignored, as a caller may have left it, ended children would vanish. */
    sigaction(SIGCHLD, &on_child, &old_on_child);
    child = fork();
    if (child == 0) {
        sigaction(SIGCHLD, &old_on_child, NULL);
        become(launch, &old_mask, report[1]);
    }
    close(report[1]);
    if (child < 0) {
        close(report[0]);
        sigprocmask(SIG_SETMASK, &old_mask, NULL);
        return mt_error_set(error, MT_IO, "no new process: %s", strerror(errno));
    }
    if (read(report[0], &end->start_errno, sizeof(end->start_errno)) !=
        (ssize_t)sizeof(end->start_errno))
        end->start_errno = 0;
    close(report[0]);
    wait_for(launch, child, &watched, end);
    sigprocmask(SIG_SETMASK, &old_mask, NULL);
    return MT_OK;
}
