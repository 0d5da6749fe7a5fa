/* SPDX-License-Identifier: Apache-2.0 */
#include "spread_leak.h"

#include "thresholds.h"

/* The same site may leak in several ledgers; a ledger with a site that leaks is explained. */
static bool has_leaking_site(const struct judged_list *sites, uint16_t ledger)
{
    for (size_t i = 0; i < sites->verdict_counts[VERDICT_LEAK]; i++)
        if (sites->rows[i].origin->ledger == ledger)
            return true;
    return false;
}

bool is_spread_leak(const struct judged_list *sites, const struct judged *ledger)
{
    size_t count = 0;
    uint64_t bytes = 0;

    if (ledger->judgement.trend.rise_chance >= CHANCE_MAX ||
        has_leaking_site(sites, ledger->origin->ledger))
        return false;
    for (size_t i = 0; i < sites->count; i++) {
        const struct judged *site = &sites->rows[i];

        if (site->origin->ledger != ledger->origin->ledger ||
            site->judgement.birth_count > SEVERAL_MIN)
            continue;
        count++;
        bytes += site->judgement.overdue_bytes;
    }
    return count >= SPREAD_SITES_MIN && bytes >= ledger->judgement.overdue_bytes / MOST_SHARE;
}
