/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a process grow by what no recorded block explains?
 */
#include "unseen_growth.h"

#include <stdlib.h>

#include "thresholds.h"

bool unseen_watch_init(struct unseen_watch *watch, const struct tally *tally)
{
    size_t count = tally_accounts(tally)->count;

    *watch = (struct unseen_watch){.tally = tally};
    if (!count)
        return true;
    watch->moments = calloc(count, sizeof(*watch->moments));
    return watch->moments != NULL;
}

void unseen_watch_release(struct unseen_watch *watch)
{
    free(watch->moments);
}

/* --- what is alive at each account ----------------------------------------------------------- */

static void begin_process(struct unseen_watch *watch, uint16_t process)
{
    size_t count;

    watch->has_process = true;
    watch->process = process;
    watch->now = (struct seen_moment){0};
    watch->next = memory_accounts_of(tally_accounts(watch->tally), process, &count);
}

/* Accounts before this time saw what is alive now. */
static void pass_accounts(struct unseen_watch *watch, uint64_t time_ns)
{
    const struct memory_accounts *accounts = tally_accounts(watch->tally);

    while (watch->next < accounts->count && accounts->rows[watch->next].process == watch->process &&
           accounts->rows[watch->next].time_ns < time_ns)
        watch->moments[watch->next++] = watch->now;
}

void unseen_watch_born(struct unseen_watch *watch, uint16_t ledger, uint64_t time_ns,
                       uint64_t size_bytes)
{
    const struct ledger *row = tally_ledger_at(watch->tally, ledger);

    if (!watch->moments)
        return;
    if (!watch->has_process)
        begin_process(watch, row->process);
    pass_accounts(watch, time_ns);
    watch->now.births++;
    if (ledger_is_of_process(row))
        watch->now.alive_bytes += size_bytes;
}

void unseen_watch_gone(struct unseen_watch *watch, uint16_t ledger, uint64_t time_ns,
                       uint64_t size_bytes)
{
    if (!watch->moments || !watch->has_process)
        return;
    pass_accounts(watch, time_ns);
    if (ledger_is_of_process(tally_ledger_at(watch->tally, ledger)))
        watch->now.alive_bytes -= size_bytes;
}

/* --- what they do not explain ---------------------------------------------------------------- */

/* Of the parts that may be a leak; *first: the largest of these. */
static uint64_t doubtful_bytes(const struct resident_part *parts, size_t count,
                               struct resident_part *first)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        const struct resident_cause *cause = resident_cause_of(&parts[i]);

        if (!cause || !cause->is_leak)
            continue;
        if (!sum)
            *first = parts[i];
        sum += parts[i].bytes;
    }
    return sum;
}

/* Accounts from before the first block that was recorded: a program that loads what it needs. Where
 * only memory of devices is recorded, that is most of the start. None, if no block was. */
static size_t accounts_of_start(const struct seen_moment *moments, size_t count)
{
    size_t start = 0;

    while (start < count && !moments[start].births)
        start++;
    return start < count ? start : 0;
}

struct unseen_growth unseen_watch_end(struct unseen_watch *watch, uint16_t process,
                                      struct arena *arena)
{
    struct resident_part parts[RESIDENT_PARTS_MOST];
    struct unseen_growth growth = {0};
    size_t count, first, base, start;
    const struct memory_account *accounts;
    const struct seen_moment *moments;
    uint64_t bytes;

    if (!watch->moments)
        return growth;
    if (!watch->has_process)
        begin_process(watch, process);
    pass_accounts(watch, UINT64_MAX);
    watch->has_process = false;
    first = memory_accounts_of(tally_accounts(watch->tally), process, &count);
    start = accounts_of_start(&watch->moments[first], count);
    first += start;
    count -= start;
    accounts = &tally_accounts(watch->tally)->rows[first];
    moments = &watch->moments[first];
    base = resident_rise_base(arena, accounts, count, resident_bytes_of);
    if (base == count)
        return growth;
    bytes = doubtful_bytes(parts, resident_rise_parts(accounts, count, base, parts), &growth.part);
    bytes =
        risen_bytes(risen_bytes(moments[base].alive_bytes, moments[count - 1].alive_bytes), bytes);
    if (bytes < GROWN_BYTES_MIN || bytes < growth.part.whole_bytes / MOST_SHARE)
        return growth;
    growth.bytes = bytes;
    growth.duration_ns = accounts[count - 1].time_ns - accounts[base].time_ns;
    growth.births = moments[count - 1].births - moments[base].births;
    return growth;
}
