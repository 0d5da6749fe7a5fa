/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the reader of profiles, with its insides.
 */
#include "ascend_folder.h"
#include "ascend_runs.c"
#include "death.h"

static struct ascend_rank_files rank;
static struct ascend_rank_files *ranks[1] = {&rank};

static void make(void)
{
    rank = (struct ascend_rank_files){.first_ns = 1, .last_ns = 2};
}

DAMAGE(make, goes_on_after_none, goes_on(ranks, 1, 0))
DAMAGE(make, plan_has_no_time, rank.is_plan = true; ascend_runs_check(NULL, ranks, 1, "", NULL))
DAMAGE(make, rank_without_rows, rank.first_ns = UINT64_MAX;
       ascend_runs_check(NULL, ranks, 1, "", NULL))
DAMAGE(make, end_of_no_name, ascend_is_named("operator_memory.csv", "operator_memory", "csv"))

int main(void)
{
    return deaths_run();
}
