/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the blocks of devices.
 */
#include <stdint.h>

#include "death.h"
#include "device_blocks.c"

static struct block_ending ending;

static void make(void)
{
    device_block_begin(SPACE_ACL_MEMORY, 0x1000, &(struct device_block){.size_bytes = 1});
}

DAMAGE(make, block_of_no_space, device_block_find((enum block_space)0, 0x1000, NULL))
DAMAGE(make, block_of_long_address, key_of(SPACE_ACL_MEMORY, UINT64_MAX, STATE_LIVE))
DAMAGE(make, block_ends_too_often, ending.count = 2;
       block_end_one(SPACE_ACL_MEMORY, 0x1000, &ending))

int main(void)
{
    return deaths_run();
}
