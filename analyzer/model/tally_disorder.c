/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frees that come a little too late or too early, because two threads read the clock: within one
 * unit of a recording's time; or in sources whose clock runs ahead, as our own did once.
 *
 * Thread A frees a block, thread B gets its address at once: if B's alloc is read first, the old
 * block ends there and A's free is expected. Thread A hands its new block to B, who frees it: if
 * B's free is read first, it is kept until A's alloc comes. Rows are direct-mapped; a lost row
 * means one such pair is counted as it looks.
 */
#include "tally_state.h"

#include "hash.h"

static struct disorder *row_of(struct tally *tally, const struct event *event, uint64_t hash)
{
    return &tally->disorders[hash_pair(hash, event->pool) % DISORDER_SLOTS];
}

static bool is_expected(const struct disorder *row, const struct event *event,
                        enum disorder_kind kind)
{
    return row->until_ns >= event->time_ns && row->kind == kind && row->address == event->address &&
           row->pool == event->pool && row->thread != event->thread && row->until_ns;
}

static void remember(struct tally *tally, const struct event *event, uint64_t hash,
                     enum disorder_kind kind)
{
    uint64_t until_ns = event->time_ns + TALLY_DISORDER_NS;

    *row_of(tally, event, hash) = (struct disorder){.address = event->address,
                                                    .until_ns = until_ns,
                                                    .size_bytes = event->value,
                                                    .thread = event->thread,
                                                    .pool = event->pool,
                                                    .kind = kind};
    if (until_ns > tally->disorder_until_ns)
        tally->disorder_until_ns = until_ns;
}

void tally_expect_free(struct tally *tally, const struct event *event, uint64_t hash)
{
    tally->counts.overwritten++;
    remember(tally, event, hash, DISORDER_LATE_FREE);
}

bool tally_swallows_free(struct tally *tally, const struct event *event, uint64_t hash)
{
    struct disorder *row = row_of(tally, event, hash);

    if (!is_expected(row, event, DISORDER_LATE_FREE))
        return false;
    row->until_ns = 0;
    tally->counts.overwritten--;
    tally->counts.late_frees++;
    return true;
}

static struct baseline *baseline_of(struct tally *tally, const struct event *event)
{
    struct baseline *row;
    bool has_ledger = event->flags & EVENT_IS_OLDER;
    uint16_t ledger =
        has_ledger ? tally_ledger_for(tally, event->process, event->pool, event->place) : 0;

    for (size_t i = tally->baselines.count; i-- > 0;) {
        row = table_at(&tally->baselines, i);
        if (row->process != event->process)
            break;
        if (row->pool == event->pool && row->has_ledger == has_ledger && row->ledger == ledger)
            return row;
    }
    row = table_add(&tally->baselines);
    if (!row) {
        tally->has_failed = true;
        return NULL;
    }
    *row = (struct baseline){
        .process = event->process, .pool = event->pool, .has_ledger = has_ledger, .ledger = ledger};
    return row;
}

void tally_unknown_free(struct tally *tally, const struct event *event, uint64_t hash)
{
    struct baseline *row = baseline_of(tally, event);

    if (!row)
        return;
    tally->counts.unknown_frees++;
    row->count++;
    row->bytes += event->value;
    remember(tally, event, hash, DISORDER_EARLY_FREE);
}

bool tally_was_freed_early(struct tally *tally, const struct event *event, uint64_t hash)
{
    struct disorder *row = row_of(tally, event, hash);
    struct baseline *baseline;

    if (!is_expected(row, event, DISORDER_EARLY_FREE))
        return false;
    row->until_ns = 0;
    baseline = baseline_of(tally, event);
    tally->counts.unknown_frees--;
    tally->counts.early_frees++;
    if (baseline) {
        baseline->count--;
        baseline->bytes -= row->size_bytes;
    }
    return true;
}
