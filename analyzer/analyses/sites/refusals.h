/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for memory that were refused: which of them tells, and whether the process died of it.
 *
 * Refusals that follow each other within a second are one episode, and the last episode of a
 * process is the one that is looked at. In it speaks the first of those that weigh most: who was
 * refused a mapping asks elsewhere, as CPython's and the C library's allocators do, and what nobody
 * could have had is asked on purpose, or by mistake.
 */
#ifndef LEAKTIDE_ANALYSES_REFUSALS_H
#define LEAKTIDE_ANALYSES_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "tally.h"

/* Too long after the first for both to be of one episode. */
bool refusals_are_apart(uint64_t first_ns, uint64_t second_ns);

/* Of a process; zeroed before the first. */
struct refusal_episode {
    uint64_t last_ns;
    int weight; /* of the one that tells; 0: there is none yet */
};

/* By time. weight: from 1 on. True: this one tells, until another does. */
bool refusal_episode_add(struct refusal_episode *episode, uint64_t time_ns, int weight);
/* Whether it was for more than the process could have. */
bool refusal_is_too_much(const struct model *model, const struct event *event);

enum refusal_fate {
    REFUSAL_FATAL,    /* the process ended badly, soon after it; or nobody knows how it ended */
    REFUSAL_TOO_MUCH, /* the same, but nobody could have had so much */
    REFUSAL_SURVIVED, /* the program went on */
};

/* The row of the tally that tells of the process; SIZE_MAX: no request of it was refused. */
size_t refusal_of(const struct tally *tally, uint16_t process);
/* failure: what refusal_of() or another row is. */
enum refusal_fate refusal_fate(const struct tally *tally, const struct failure *failure);
/* Whether the process died of a request of the host that it could have had. */
bool refusal_ended(const struct tally *tally, uint16_t process);

/* What is least of the limits of a process. */
enum memory_limit { LIMIT_MACHINE, LIMIT_ADDRESS, LIMIT_DATA };

/* The most that the process could have of the host, and why; 0: not known. */
uint64_t refusal_limit_bytes(const struct model_process *process, enum memory_limit *limit);

#endif
