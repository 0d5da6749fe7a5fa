/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of what a loop made could be judged.
 */
#include "survivor_evidence.h"

#include "leak_weight.h"
#include "thresholds.h"

struct survivor_evidence survivor_evidence_of(struct overdue_part part, bool is_active)
{
    return (struct survivor_evidence){
        .births = part.births,
        .judged_births = is_active ? part.births : 0,
        .unjudged_bytes = is_active ? 0 : part.left_bytes,
    };
}

void survivor_evidence_add(struct survivor_evidence *sum, const struct survivor_evidence *evidence)
{
    sum->births += evidence->births;
    sum->judged_births += evidence->judged_births;
    sum->unjudged_bytes += evidence->unjudged_bytes;
}

bool survivor_evidence_is_enough(const struct survivor_evidence *evidence)
{
    return evidence->judged_births >= evidence->births - evidence->births / MOST_SHARE;
}

static bool is_lacking(const struct survivor_evidence *evidence)
{
    return !survivor_evidence_is_enough(evidence) && evidence->unjudged_bytes >= LEAK_BYTES_MIN;
}

const struct survivor_pool *survivor_evidence_lacking(const struct survivor_evidence *ledgers,
                                                      size_t ledger_count, struct arena *arena,
                                                      size_t *count)
{
    struct survivor_pool *pools;

    *count = 0;
    for (size_t i = 0; i < ledger_count; i++)
        *count += is_lacking(&ledgers[i]);
    pools = arena_alloc(arena, (*count + 1) * sizeof(*pools));
    *count = 0;
    for (size_t i = 0; pools && i < ledger_count; i++)
        if (is_lacking(&ledgers[i]))
            pools[(*count)++] =
                (struct survivor_pool){(uint16_t)i, ledgers[i].unjudged_bytes,
                                       ledgers[i].births - ledgers[i].judged_births};
    return pools;
}
