/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the period of a program, of its late loop, and of what modules lie where.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "death.h"
#include "late_loop.c"
#include "module_map.h"
#include "step_finder.c"

static struct step_finder *finder;
static struct token_series series;
static struct found_steps found;
static struct module_map map;
static struct end end;

static void make(void)
{
    struct model *model;

    if (model_create(&model, NULL) != MT_OK)
        _exit(1);
    finder = step_finder_create(model);
    for (uint64_t i = 0; i < 8; i++)
        count_token(finder, (struct step_token){.kind = TOKEN_SIZE, .id = i % 2}, false);
    finder_check(finder);
    found_check(&found);
    series =
        (struct token_series){.token = {.kind = TOKEN_SIZE}, .count = 3, .first = 10, .last = 20};
    series_check(&series);
    module_map_init(&map);
    end = (struct end){&finder->rows, &finder->recent, 8, 4};
}

static struct token_series *row(void)
{
    return table_at(&finder->rows, 0);
}

static void put_module(uint64_t first, uint64_t last, uint32_t module_next)
{
    module_map_put(&map, (struct module_stretch){1, first, last}, module_next);
}

#define FINDER(name, ...) DAMAGE(make, name, __VA_ARGS__; finder_check(finder))
#define FOUND(name, ...)  DAMAGE(make, name, __VA_ARGS__; found_check(&found))

FINDER(token_never, row()->count = 0)
FINDER(token_last, row()->last = 0; row()->first = 1)
FINDER(tokens_at_a_position, row()->count = 100)
FINDER(token_of_no_kind, row()->token.kind = TOKEN_NONE)
FINDER(positions, finder->position++)
FINDER(token_index, finder->index.count++)
FOUND(confidence, found.confidence_percent = 101)
FOUND(steps_of_no_token, found.count = 3)
FOUND(steps_beside_marks,
      found = (struct found_steps){.count = 3, .token = {.kind = TOKEN_SIZE}, .has_marks = true})
DAMAGE(make, period_of_one, series.count = 1; token_series_period(&series))
DAMAGE(make, period_of_nothing, series.last = series.first; token_series_period(&series))
DAMAGE(make, position_back, token_series_put(&series, 20))
DAMAGE(make, recent_power, finder->recent.capacity = 5000; recent_tokens_put(&finder->recent, 8, 0))
DAMAGE(make, recent_beyond, row_at(&end, 8))
DAMAGE(make, recent_forgotten, end.position_count = 1 << 20; row_at(&end, 0))
DAMAGE(make, earlier_count, row()->earlier_count = UINT64_MAX - 3; end_count_rows(&end))
DAMAGE(make, module_of_no_bytes, put_module(9, 8, 1))
DAMAGE(make, module_of_no_row, put_module(8, 9, 0))

int main(void)
{
    return deaths_run();
}
