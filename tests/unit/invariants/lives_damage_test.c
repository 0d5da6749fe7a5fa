/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the lives of blocks, and of where modules lie, with their insides.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "death.h"
#include "lives.c"
#include "module_map.c"

static struct reading reading;
static struct event event;
static uint32_t number;
static struct module_map map;

/* Three rows: one is free. */
static void make(void)
{
    reading.batch = &event;
    for (int i = 0; i < 3; i++)
        if (!row_take(&reading, &number))
            _exit(1);
    row_give(&reading, 1);
    rows_check(&reading, 2);
    module_map_init(&map);
    module_map_put(&map, (struct module_stretch){1, 10, 20}, 1);
    listen(&reading, &(struct life_visitor){0});
}

static struct tally *some_tally(void)
{
    struct model *model;
    struct tally *tally;

    if (model_create(&model, NULL) != MT_OK || tally_create(model, &tally, NULL) != MT_OK)
        _exit(1);
    return tally;
}

DAMAGE(make, rows_most, reading.row_count = SIZE_MAX; row_take(&reading, &number))
DAMAGE(make, free_row, reading.free_row = 9; row_take(&reading, &number))
DAMAGE(make, row_unknown, row_give(&reading, 3))
DAMAGE(make, row_given_twice, row_give(&reading, 1); rows_check(&reading, 2))
DAMAGE(make, row_behind, reading.rows[1].born_step = 9; rows_check(&reading, 2))
DAMAGE(make, rows_alive, rows_check(&reading, 1))
DAMAGE(make, stopped_twice, listener_stop(&reading, &reading.listeners[0]);
       listener_stop(&reading, &reading.listeners[0]))
DAMAGE(make, born_later, reading.tally = some_tally(); reading.rows[2].index = 9;
       on_gone(&reading, &event, &(struct live_block){.birth = 2}, 0))
DAMAGE(make, visitors_most,
       lives_read_together(NULL, NULL, NULL, NULL, LIFE_VISITORS_MOST + 1, NULL))
DAMAGE(make, cut_beside, cut(&map, *node_at_least(&map, 1, 15), (struct module_stretch){1, 30, 40}))

int main(void)
{
    return deaths_run();
}
