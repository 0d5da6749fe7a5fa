/* SPDX-License-Identifier: Apache-2.0 */
#include "reserved_rise.h"

#include "thresholds.h"
#include "trend.h"

/* At most TREND_MAX steps, as far apart as that asks for. */
struct sampled {
    uint64_t reserved[TREND_MAX], used[TREND_MAX];
    size_t count;
};

static void sample(const struct tally *tally, const struct ledger *ledger, uint16_t index,
                   uint32_t first, uint32_t last, struct sampled *sampled)
{
    uint32_t stride = (last - first) / TREND_MAX + 1;

    sampled->count = 0;
    for (uint32_t i = first; i <= last && sampled->count < TREND_MAX; i += stride) {
        const struct step *step = tally_step_of(tally, ledger->process, i);
        const struct step_row *row = step ? tally_step_row_of(tally, step, index) : NULL;

        if (!row)
            continue;
        sampled->reserved[sampled->count] = row->reserved_bytes;
        sampled->used[sampled->count++] = row->peak_bytes;
    }
}

static uint64_t rise_between(const uint64_t *values, size_t first, size_t last)
{
    return values[last] > values[first] ? values[last] - values[first] : 0;
}

/* Most of what is reserved more is not because more is used. */
static uint64_t most_used_more(const struct sampled *sampled)
{
    uint64_t most = 0;

    for (size_t i = 1; i < sampled->count; i++) {
        uint64_t more = rise_between(sampled->used, 0, i);

        most = more > most ? more : most;
    }
    return most;
}

struct reserved_rise reserved_rise_of(const struct question *question, uint16_t ledger,
                                      uint32_t first, uint32_t last)
{
    const struct ledger *row = tally_ledger_at(question->tally, ledger);
    struct reserved_rise rise = {.bytes = 0};
    struct sampled sampled;
    uint64_t bytes, late;

    if (!row->has_reserved)
        return rise;
    sample(question->tally, row, ledger, first, last, &sampled);
    if (!sampled.count)
        return rise;
    bytes = rise_between(sampled.reserved, 0, sampled.count - 1);
    late = rise_between(sampled.reserved, sampled.count - sampled.count / THIRD_SHARE - 1,
                        sampled.count - 1);
    if (bytes < GROWN_BYTES_MIN || late * STILL_SHARE < bytes ||
        most_used_more(&sampled) >= bytes / MOST_SHARE ||
        trend_of(sampled.reserved, sampled.count).rise_chance >= SURE_CHANCE_MAX)
        return rise;
    return (struct reserved_rise){bytes, last - first};
}
