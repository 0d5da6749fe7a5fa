/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_judged.h"

#include "sentence.h"

static enum doubt_kind doubt_at(const struct summary *summary, size_t row)
{
    if (!summary_has(summary, COLUMN_ranks_judged_count, row))
        return DOUBT_OLDER;
    return doubt_by_word(summary_text_at(summary, COLUMN_ranks_unjudged, row));
}

struct rank_judged rank_find_judged(const struct rank_set *set)
{
    struct rank_judged judged = {0};

    for (size_t i = 0; i < set->count; i++) {
        const struct rank *rank = &set->ranks[i];
        enum doubt_kind doubt = doubt_at(&set->summary, rank->row);

        judged.judged_count += summary_bytes(&set->summary, COLUMN_ranks_judged_count, rank->row);
        if (doubt == DOUBT_NONE)
            continue;
        judged.unjudged_count++;
        if (judged.first)
            continue;
        judged.first = rank;
        judged.doubt = doubt;
    }
    return judged;
}

const char *rank_judged_words(const struct rank_set *set, const struct rank_judged *judged,
                              struct arena *arena)
{
    return judged->first
               ? sentence(arena, "%zu of %zu ranks; the first, %s: %s", judged->unjudged_count,
                          set->count, rank_label(set, arena, judged->first),
                          doubt_reason(judged->doubt))
               : NULL;
}
