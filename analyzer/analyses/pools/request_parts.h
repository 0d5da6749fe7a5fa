/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request that is taken part by part. An allocator with expandable segments asks a driver for
 * 20 MiB after 20 MiB; when one is refused, it hands back what it had got for this request.
 *
 *   20  20  20  ...  refused   free  free  free  ...
 *   |---- parts ---|           |-- handed back --|
 *
 * Parts are blocks of one ledger, made from one place by one thread that did nothing else
 * meanwhile, and handed back by it before it makes another one. They were never held: what they add
 * up to is how much the device had left.
 */
#ifndef LEAKTIDE_ANALYSES_REQUEST_PARTS_H
#define LEAKTIDE_ANALYSES_REQUEST_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "lives.h"

/* Of one thread in one ledger: what may be parts of one request. */
struct part_run {
    uint32_t thread, site;
    uint16_t ledger;
    bool has_failed;
    uint64_t first_event;            /* the birth of the first; 0: there is none */
    uint64_t back_bytes, back_count; /* handed back since it failed */
};

/* Of one process. */
struct request_parts {
    const struct tally *tally;
    uint16_t process;
    uint64_t address_bytes; /* reserved at once, at most: without any, nothing is mapped */
    struct part_run *runs;
    size_t count, capacity;
    bool has_no_memory;
};

void request_parts_init(struct request_parts *parts, const struct tally *tally, uint16_t process);
void request_parts_release(struct request_parts *parts);

/* For a visitor of lives, of each. */
void request_parts_event(struct request_parts *parts, const struct event *event);
void request_parts_born(struct request_parts *parts, const struct life *life);
/* Whether it was a part, and has been handed back. */
bool request_parts_over(struct request_parts *parts, const struct life *life);

/* Whether a driver or a runtime handed it out: only that can be mapped part by part. */
bool ledger_can_have_parts(const struct tally *tally, uint16_t index);

/* The run of the thread that failed and did nothing else since, with most handed back; NULL: none.
 * device: of its ledger. */
const struct part_run *request_parts_of(const struct request_parts *parts, uint32_t thread,
                                        int32_t device);

#endif
