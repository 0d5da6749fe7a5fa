/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's side of waiting at a word; whoever waits or wakes follows rings_file.c and served.c.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rings_file.h"

void shared_wait(const uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    struct timespec timeout = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};

    syscall(SYS_futex, word, FUTEX_WAIT, seen, &timeout, NULL, 0);
}

void shared_wake(const uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
