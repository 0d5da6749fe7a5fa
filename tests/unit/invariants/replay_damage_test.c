/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the question what other settings of an allocator would have done.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "death.h"
#include "what_if.c"

static struct replay replay;

static void make(void)
{
    if (row_take(&replay) != 0 || !live_set_init(&replay.lives))
        _exit(1);
}

static void free_of_row(uint32_t row)
{
    static struct what_ifs what_ifs = {.count = 1};
    struct life life = {.index = 0, .freed_ns = 1};

    replay.what_ifs = &what_ifs;
    live_set_put(&replay.lives, live_hash(1),
                 &(struct live_block){.address = 1, .group = 1, .birth = row});
    on_over(&replay, &life);
}

DAMAGE(make, rows_most, replay.row_count = UINT32_MAX; row_take(&replay))
DAMAGE(make, spare_row, replay.spare = 9; row_take(&replay))
DAMAGE(make, row_of_life, free_of_row(9))

int main(void)
{
    return deaths_run();
}
