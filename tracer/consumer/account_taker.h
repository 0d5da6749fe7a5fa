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
#include "leaktide/rings.h"

/* Nothing is being taken. */
bool account_taker_is_idle(void);

/* What a process says that the recorder mapped there. */
struct own_memory_of {
    struct account_range ranges[MT_RINGS_OWN_RANGES];
};
void own_memory_read(const struct mt_rings_process *place, struct own_memory_of *own);

/* process: in our name space; place: its own. read: set and woken when the process was read; NULL:
 * nobody waits for that. False: there is no thread to be had. Only when idle. */
bool account_taker_ask(pid_t process, const struct mt_rings_process *place,
                       enum account_depth depth, uint32_t *read);

/* True once for each that was asked for, when it is done: *account, to be released, or an errno in
 * *error when there is none. */
bool account_taker_poll(struct account *account, int *error);

#endif
