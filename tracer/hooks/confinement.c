/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that tells the kernel which system calls it may make (seccomp): from then on we make
 * none that is not needed, as one that is not allowed may end it.
 *
 * Seen are prctl, and seccomp through syscall, which are the ways of libseccomp and of programs
 * that do without it. A program that enters the kernel by itself is not seen. Both functions only
 * enter the kernel, so they do that themselves: to look for the real ones would take the loader's
 * lock, where a program may come from inside its own malloc.
 */
#define _GNU_SOURCE
#include "confinement.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hook.h"
#include "recording.h"

HOOK_EXPORT int prctl(int option, ...);

static void begins(bool is_strict)
{
    int error = errno;

    recording_is_confined(is_strict);
    errno = error;
}

/* Libraries ask the kernel what it knows by calls that cannot succeed: those change nothing. */
static void look_at_mode(bool is_strict, bool is_filter, bool has_filter)
{
    if (is_strict || (is_filter && has_filter))
        begins(is_strict);
}

void confinement_before_syscall(long number, long first, long second, long third)
{
    if (number == SYS_seccomp)
        look_at_mode(first == SECCOMP_SET_MODE_STRICT && !second && !third,
                     first == SECCOMP_SET_MODE_FILTER, third != 0);
    if (number == SYS_prctl && first == PR_SET_SECCOMP)
        look_at_mode(second == SECCOMP_MODE_STRICT, second == SECCOMP_MODE_FILTER, third != 0);
}

long confinement_error(int error)
{
    errno = error;
    return -1;
}

int prctl(int option, ...)
{
    unsigned long arguments[4];
    va_list rest;

    va_start(rest, option);
    for (int i = 0; i < 4; i++)
        arguments[i] = va_arg(rest, unsigned long);
    va_end(rest);
    return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
