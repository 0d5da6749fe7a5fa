/* SPDX-License-Identifier: Apache-2.0 */
#include "control_wish.h"

#include "json_scan.h"

struct control_wish control_wish_read(const char *json, int64_t rank)
{
    struct control_wish wish = {.is_wanted = true};
    int64_t start = 0, stop = 0, active = 0, warmup = 0;
    bool has_ranks = false, is_by_rank = true, is_listed, is_on = true;

    json_flag(json, "is_rank", &is_by_rank);
    is_listed = json_list_has(json, "rank_list", rank, &has_ranks);
    if (is_by_rank && has_ranks && !is_listed)
        wish.is_wanted = false;
    if ((json_flag(json, "profile_memory", &is_on) && !is_on) ||
        (json_flag(json, "start", &is_on) && !is_on))
        wish.is_wanted = false;
    if (!json_number(json, "start_step", &start) || start < 0)
        return wish;
    json_number(json, "warmup", &warmup);
    wish.first_step = (uint64_t)start + (uint64_t)(warmup > 0 ? warmup : 0);
    wish.first_step += !wish.first_step; /* they count from 0 as well */
    wish.last_step = UINT64_MAX;
    if (json_number(json, "active", &active) && active > 0)
        wish.last_step = wish.first_step + (uint64_t)active - 1;
    else if (json_number(json, "stop_step", &stop) && stop >= (int64_t)wish.first_step)
        wish.last_step = (uint64_t)stop;
    return wish;
}
