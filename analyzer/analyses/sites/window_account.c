/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a ledger kept of the recorded time.
 */
#include "window_account.h"

int64_t window_growth_bytes(const struct window_account *account)
{
    return (int64_t)(account->unreleased_bytes - account->released_bytes);
}

static bool is_first_of_pool(const struct tally *tally, uint16_t index)
{
    const struct ledger *ledger = tally_ledger_at(tally, index);

    for (uint16_t i = 0; i < index; i++) {
        const struct ledger *earlier = tally_ledger_at(tally, i);

        if (earlier->process == ledger->process && earlier->pool == ledger->pool)
            return false;
    }
    return true;
}

/* Frees of older blocks that are known by pool only go to the pool's first ledger. */
static bool is_of_ledger(const struct tally *tally, const struct baseline *row, uint16_t index)
{
    const struct ledger *ledger = tally_ledger_at(tally, index);

    if (row->has_ledger)
        return row->ledger == index;
    return row->process == ledger->process && row->pool == ledger->pool &&
           is_first_of_pool(tally, index);
}

struct window_account window_account_of(const struct tally *tally, uint16_t index)
{
    const struct ledger *ledger = tally_ledger_at(tally, index);
    struct window_account account = {
        .unreleased_bytes = ledger->live_bytes - ledger->older_left_bytes,
        .unreleased_count = ledger->live_count - ledger->older_left_count,
        .older_bytes = ledger->older_bytes + ledger->older_beside_bytes,
        .released_bytes = ledger->older_bytes - ledger->older_left_bytes,
        .released_count = ledger->older_count - ledger->older_left_count,
        .is_released_known = true,
        .is_older_known = ledger->older_count || ledger->has_older_beside,
    };

    for (size_t i = 0; i < tally_baseline_count(tally); i++) {
        const struct baseline *row = tally_baseline_at(tally, i);

        if (!row->count || !is_of_ledger(tally, row, index))
            continue;
        account.is_released_known &= row->bytes > 0;
        account.released_bytes += row->bytes;
        account.released_count += row->count;
    }
    return account;
}
