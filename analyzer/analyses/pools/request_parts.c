/* SPDX-License-Identifier: Apache-2.0 */
#include "request_parts.h"

#include <stdlib.h>

#include "leaktide/invariant.h"
#include "list.h"

void request_parts_init(struct request_parts *parts, const struct tally *tally, uint16_t process)
{
    *parts = (struct request_parts){.tally = tally, .process = process};
    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if (ledger->process == process && ledger->kind == LEDGER_VIRTUAL &&
            ledger->peak_bytes > parts->address_bytes)
            parts->address_bytes = ledger->peak_bytes;
    }
}

void request_parts_release(struct request_parts *parts)
{
    free(parts->runs);
}

bool ledger_can_have_parts(const struct tally *tally, uint16_t index)
{
    const struct ledger *ledger = tally_ledger_at(tally, index);

    return ledger->kind == LEDGER_MEMORY && ledger->device >= 0 &&
           pool_is_of_device(model_pool_at(tally_model(tally), ledger->pool));
}

static void run_check(const struct request_parts *parts, const struct part_run *run)
{
    MT_ASSERT(run->ledger < tally_ledger_count(parts->tally));
    MT_ASSERT(ledger_can_have_parts(parts->tally, run->ledger));
    MT_ASSERT(!run->has_failed || run->first_event);
    MT_ASSERT(!run->back_count || run->has_failed);
    MT_ASSERT(run->back_bytes <= run->back_count * parts->address_bytes);
}

static struct part_run *run_find(struct request_parts *parts, uint32_t thread, uint16_t ledger)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->runs[i].thread == thread && parts->runs[i].ledger == ledger)
            return &parts->runs[i];
    return NULL;
}

static struct part_run *run_at(struct request_parts *parts, uint32_t thread, uint16_t ledger)
{
    struct part_run *run = run_find(parts, thread, ledger);

    if (run)
        return run;
    if (!list_has_room(&parts->runs, &parts->capacity, parts->count, sizeof(*parts->runs))) {
        parts->has_no_memory = true;
        return NULL;
    }
    run = &parts->runs[parts->count++];
    *run = (struct part_run){.thread = thread, .ledger = ledger};
    return run;
}

/* first_event: 0: of nothing yet. */
static void run_begin(struct part_run *run, uint32_t site, uint64_t first_event)
{
    run->site = site;
    run->has_failed = false;
    run->first_event = first_event;
    run->back_bytes = run->back_count = 0;
}

static void thread_does_something_else(struct request_parts *parts, uint32_t thread)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->runs[i].thread == thread)
            run_begin(&parts->runs[i], 0, 0);
}

static bool is_something_else(const struct event *event)
{
    const uint32_t kinds = 1U << EVENT_OPERATOR_BEGIN | 1U << EVENT_OPERATOR_END |
                           1U << EVENT_RANGE_BEGIN | 1U << EVENT_RANGE_END |
                           1U << EVENT_STEP_BEGIN | 1U << EVENT_STEP_END | 1U << EVENT_LAUNCH;

    return (kinds >> event->kind & 1) && !(event->flags & EVENT_IS_PUT_IN);
}

void request_parts_event(struct request_parts *parts, const struct event *event)
{
    uint16_t ledger;
    struct part_run *run;

    if (!parts->count || event->process != parts->process)
        return;
    if (is_something_else(event))
        thread_does_something_else(parts, event->thread);
    if (event->kind != EVENT_ALLOC_FAILED ||
        !tally_ledger_find(parts->tally, event->process, event->pool, event->place, &ledger))
        return;
    run = run_find(parts, event->thread, ledger);
    if (run && run->first_event)
        run->has_failed = true;
    if (run)
        run_check(parts, run);
}

void request_parts_born(struct request_parts *parts, const struct life *life)
{
    uint32_t site = tally_detail_at(parts->tally, life->group)->site;
    const struct ledger *ledger = tally_ledger_at(parts->tally, life->ledger);
    struct part_run *run;

    if (ledger->process != parts->process || life->size_bytes > parts->address_bytes)
        return;
    if (!ledger_can_have_parts(parts->tally, life->ledger)) {
        if (parts->count && ledger->kind == LEDGER_MEMORY && ledger->device >= 0)
            thread_does_something_else(parts, life->thread);
        return;
    }
    run = run_at(parts, life->thread, life->ledger);
    if (!run)
        return;
    if (!run->first_event || run->has_failed || run->site != site)
        run_begin(run, site, life->born_event);
}

static bool is_part(const struct request_parts *parts, const struct part_run *run,
                    const struct life *life)
{
    return run->ledger == life->ledger && run->thread == life->thread && run->has_failed &&
           life->born_event >= run->first_event && life->freeing_thread == run->thread &&
           tally_detail_at(parts->tally, life->group)->site == run->site;
}

bool request_parts_over(struct request_parts *parts, const struct life *life)
{
    for (size_t i = 0; life->freed_event && i < parts->count; i++) {
        struct part_run *run = &parts->runs[i];

        if (!is_part(parts, run, life))
            continue;
        run->back_bytes += life->size_bytes;
        run->back_count++;
        run_check(parts, run);
        return true;
    }
    return false;
}

const struct part_run *request_parts_of(const struct request_parts *parts, uint32_t thread,
                                        int32_t device)
{
    const struct part_run *best = NULL;

    for (size_t i = 0; i < parts->count; i++) {
        const struct part_run *run = &parts->runs[i];

        if (run->thread == thread && run->back_count &&
            tally_ledger_at(parts->tally, run->ledger)->device == device &&
            (!best || run->back_bytes > best->back_bytes))
            best = run;
    }
    return best;
}
