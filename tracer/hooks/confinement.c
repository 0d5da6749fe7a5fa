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

void confinement_before_syscall(long number, long first, long second)
{
    if (number == SYS_seccomp &&
        (first == SECCOMP_SET_MODE_STRICT || first == SECCOMP_SET_MODE_FILTER))
        begins(first == SECCOMP_SET_MODE_STRICT);
    if (number == SYS_prctl && first == PR_SET_SECCOMP)
        begins(second == SECCOMP_MODE_STRICT);
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
