/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks: who and how much stay, then how often and since when; what repeats another column,
 * and what draws, goes first.
 */
#include "column_ranks.h"

#include <stddef.h>
#include <string.h>

enum column_rank column_rank(const char *key)
{
    static const struct {
        const char *key;
        enum column_rank rank;
    } ranks[] = {
        {"site", RANK_WHO},
        {"function", RANK_WHO},
        {"name", RANK_WHO},
        {"part", RANK_WHO},
        {"step", RANK_WHO},
        {"measure", RANK_WHO},
        {"counter", RANK_WHO},
        {"module", RANK_WHO},
        {"component", RANK_WHO},
        {"category", RANK_WHO},
        {"setting", RANK_WHO},
        {"what_to_do", RANK_WHO},
        {"stack", RANK_WHO},
        {"verdict", RANK_HOW_MUCH},
        {"growth_bytes_per_step", RANK_HOW_MUCH},
        {"held_bytes", RANK_HOW_MUCH},
        {"peak_bytes", RANK_HOW_MUCH},
        {"peak_change_bytes", RANK_HOW_MUCH},
        {"end_change_bytes", RANK_HOW_MUCH},
        {"alive_bytes", RANK_HOW_MUCH},
        {"size_bytes", RANK_HOW_MUCH},
        {"saves_bytes", RANK_HOW_MUCH},
        {"change", RANK_HOW_MUCH},
        {"share_percent", RANK_DETAIL},
        {"first_bytes", RANK_DETAIL},
        {"median_bytes", RANK_DETAIL},
        {"lowest_bytes", RANK_DETAIL},
        {"growth_low_bytes_per_step", RANK_DETAIL},
        {"growth_high_bytes_per_step", RANK_DETAIL},
        {"address", RANK_DETAIL},
        {"site_id", RANK_DETAIL},
        {"ledger", RANK_REPEATS},
        {"operator", RANK_REPEATS},
        {"owner", RANK_REPEATS},
        {"of", RANK_REPEATS},
        {"alive_bytes_by_step", RANK_PICTURE},
    };

    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
        if (strcmp(ranks[i].key, key) == 0)
            return ranks[i].rank;
    return RANK_USUAL;
}

bool column_is_prose(const char *key)
{
    return strcmp(key, "what_to_do") == 0;
}
