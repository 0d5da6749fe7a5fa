/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of a tally against what they are the sums of.
 */
#include <stdlib.h>

#include "tally_state.h"

static void group_check(const struct tally *tally, uint32_t index)
{
    const struct group *group = group_at(tally, index);
    const struct group_detail *detail = table_at(&tally->details, index);

    MT_ASSERT(group->ledger < tally->ledger_count);
    MT_ASSERT(tally->group_ledgers[index] == group->ledger);
    MT_ASSERT(group->born_bytes <= group->live_bytes);
    MT_ASSERT(group->born_count <= group->live_count);
    MT_ASSERT(group->live_count || !group->live_bytes);
    step_series_check(&detail->series);
    cohorts_check(&detail->cohorts);
}

static void ledger_check(const struct tally *tally, uint16_t index, uint64_t group_bytes)
{
    const struct ledger *ledger = ledger_at(tally, index);

    MT_ASSERT(ledger->live_bytes == group_bytes);
    MT_ASSERT(ledger->live_bytes <= ledger->peak_bytes);
    MT_ASSERT(ledger->reserved_bytes <= ledger->reserved_peak_bytes);
}

/* What an observed tally holds is its observer's. */
static void sums_check(const struct tally *tally)
{
    uint64_t *bytes = calloc(tally->ledger_count + 1, sizeof(*bytes));

    for (uint32_t i = 1; i < tally->group_count; i++) {
        const struct group *group = group_at(tally, i);

        if (bytes)
            bytes[group->ledger] += group->live_bytes;
    }
    for (uint16_t i = 0; bytes && i < tally->ledger_count; i++)
        ledger_check(tally, i, bytes[i]);
    free(bytes);
}

void tally_check(const struct tally *tally)
{
    MT_ASSERT(tally->spent_count <= SPENT_MAX);
    MT_ASSERT(tally->touched_count <= tally->touched_capacity);
    MT_ASSERT(tally->details.count == tally->group_count);
    for (uint32_t i = 1; i < tally->group_count; i++)
        group_check(tally, i);
    live_set_check(&tally->live);
    hash_index_check(&tally->group_index);
    if (!tally->observer)
        sums_check(tally);
}
