/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes accounts of processes (docs/process-account.md) on a thread of its own, as one of a large
 * process takes longer than a ring may wait. One at a time.
 *
 *     ask ─► the thread reads /proc ─► poll
 *
 * All but the thread itself is the consumer's first thread's.
 */
#ifndef LEAKTIDE_TRACER_ACCOUNT_TAKER_H
#define LEAKTIDE_TRACER_ACCOUNT_TAKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "account.h"

/* Nothing is being taken. */
bool account_taker_is_idle(void);

/* A process that waits until it was read: words in memory that it shares. */
struct account_waiter {
    const uint32_t *waits; /* not 0 for as long as it does */
    uint32_t *is_read;     /* futex: set and woken when it was */
};

/* process: in our name space. waiter: copied; NULL: nobody waits. False: there is no thread to be
 * had. Only when idle. */
bool account_taker_ask(pid_t process, enum account_depth depth,
                       const struct account_waiter *waiter);

/* True once for each that was asked for, when it is done: *account, to be released, or an errno in
 * *error when there is none. ECANCELED: the process did not wait until it was read, so a part of
 * what it had may have been gone. */
bool account_taker_poll(struct account *account, int *error);

#endif
