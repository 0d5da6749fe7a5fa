/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of segments from below, and of requests that are taken part by part.
 */
#include <stdint.h>
#include <unistd.h>

#include "death.h"
#include "event_list.h"
#include "request_parts.c"
#include "segments_below.c"

enum { PART = 20 << 20 };

static struct candidates candidates;

/* Two that lie side by side. */
static void make_candidates(void)
{
    for (uint64_t i = 0; i < 2; i++) {
        struct life life = {.address = i * PART, .size_bytes = PART};

        if (!candidates_add(&candidates, (struct layer){.is_below = true}, &life))
            _exit(1);
    }
    candidates_check(&candidates);
}

#define LOOK_AT(name, ...) DAMAGE(make_candidates, name, __VA_ARGS__; candidates_check(&candidates))

LOOK_AT(more_than_there_is_room, candidates.count = candidates.capacity + 1)
LOOK_AT(not_below, candidates.rows[1].layer.is_below = false)
LOOK_AT(far_below, candidates.rows[0].layer.distance = UINT8_MAX)
LOOK_AT(an_address_twice, candidates.rows[0].range.to++)

static struct event_list list;
static struct request_parts parts;
static struct part_run run;

static void make_run(void)
{
    uint16_t pool;

    event_list_init(&list);
    pool = model_pool(list.model, event_list_text(&list, "acl"));
    event_list_alloc(&list, PART, PART, 0);
    event_list_add(
        &list, (struct event){.kind = EVENT_ALLOC, .pool = pool, .address = PART, .value = PART});
    request_parts_init(&parts, event_list_question(&list)->tally, 0);
    parts.address_bytes = PART;
    run = (struct part_run){
        .ledger = 1, .has_failed = true, .first_event = 1, .back_bytes = PART, .back_count = 1};
    run_check(&parts, &run);
}

#define LOOK(name, ...) DAMAGE(make_run, name, __VA_ARGS__; run_check(&parts, &run))

LOOK(run_of_no_ledger, run.ledger = UINT16_MAX)
LOOK(run_of_a_framework, run.ledger = 0)
LOOK(run_failed_without_a_part, run.first_event = 0)
LOOK(run_came_back_before_it_failed, run.has_failed = false)
LOOK(run_of_more_than_was_mapped, run.back_bytes = 2 * PART)

int main(void)
{
    return deaths_run();
}
