/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the owners of blocks, with their insides.
 */
#include <stdint.h>
#include <stdlib.h>

#include "death.h"
#include "owner_source.c"

static struct owned_blocks blocks;
static struct owner_source *source;

static void make(void)
{
    blocks = (struct owned_blocks){0};
    owned_blocks_name(&blocks, 1, 0, 1);
    owned_blocks_name(&blocks, 5, 0, 1);
    owned_blocks_check(&blocks);
    source = calloc(1, sizeof(*source));
    source->owned = &blocks;
}

static void pass(void)
{
    source->batch.count = 1;
    plain_count(source);
}

DAMAGE(make, owned_capacity, blocks.capacity = 1; owned_blocks_check(&blocks))
DAMAGE(make, owned_order, blocks.rows[1].alloc = 1; owned_blocks_check(&blocks))
DAMAGE(make, owned_names, blocks.rows[0].name_count = 0; owned_blocks_check(&blocks))
DAMAGE(make, owned_beyond, source->next = 3; pass())
DAMAGE(make, owned_passed_over, source->event_count = 3; pass())

int main(void)
{
    return deaths_run();
}
