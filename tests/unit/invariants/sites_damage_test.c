/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of what analyses share: origins, lists of blocks, sheets, trends; and of comparisons.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "block_list.c"
#include "death.h"
#include "diff_spread.h"
#include "origins.c"
#include "sheet.c"
#include "trend.c"

static struct origins origins;
static struct block_list list;
static struct sheet sheet;

static void make(void)
{
    static uint32_t groups[] = {1, 2, 3};
    static struct origin rows[] = {{.groups = groups, .group_count = 1, .ledger = 0},
                                   {.groups = groups + 1, .group_count = 2, .ledger = 1}};
    static const char *const keys[] = {"bytes", NULL};
    const uint64_t value = 1;

    origins = (struct origins){groups, rows, 2};
    origins_check(&origins, 3);
    block_list_init(&list, 1);
    block_list_put(&list, &(struct life){.size_bytes = 8});
    sheet = sheet_of(keys);
    sheet_add(&sheet, &value);
}

static void put_block(void)
{
    block_list_put(&list, &(struct life){.size_bytes = 8, .index = 1});
}

static void add_row(void)
{
    const uint64_t value = 1;

    sheet_add(&sheet, &value);
}

static void sheet_of_many(void)
{
    const char *keys[SHEET_COLUMNS_MOST + 2] = {NULL};

    for (int i = 0; i <= SHEET_COLUMNS_MOST; i++)
        keys[i] = "bytes";
    sheet_of(keys);
}

static void trend_of_ties(size_t ties)
{
    struct polynomial inversions;

    inversions_of(&ties, 1, &inversions);
}

static struct report *some_report(void)
{
    struct report *report;

    if (report_create("peak", &report, NULL) != MT_OK)
        _exit(1);
    return report;
}

#define ORIGINS(name, ...) DAMAGE(make, name, __VA_ARGS__; origins_check(&origins, 3))

ORIGINS(origins_most, origins.count = 4)
ORIGINS(origin_elsewhere, origins.rows[1].groups = origins.groups)
ORIGINS(origin_of_no_group, origins.rows[0].group_count = 0)
ORIGINS(origin_left_out, origins.count = 1)
DAMAGE(make, list_overfull, list.count = list.most + 1; list.all_count = list.count; put_block())
DAMAGE(make, list_of_more, list.count = list.most; list.all_count = UINT64_MAX; put_block())
DAMAGE(make, list_rest, list.all_bytes++; list.count = 0; list.all_count = 0;
       block_list_show(&list, NULL, some_report(), NULL, 0))
DAMAGE(make, sheet_columns, sheet_of_many())
DAMAGE(make, sheet_overfull, sheet.row_count = sheet.capacity + 1; add_row())
DAMAGE(make, ties_of_others, size_t ties = 2; pairs_of(3, &ties, 1))
DAMAGE(make, ties_most, trend_of_ties(TREND_EXACT_MAX + 1))
DAMAGE(make, spread_of_one, const uint64_t number = 1; spread_of(&number, 1))

int main(void)
{
    return deaths_run();
}
