/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the list of the recorder's own memory, and of how long a writer waits.
 */
#include "own_memory.c"
#include "patience.c"

#include "death.h"

static struct mt_rings_header header;

static void make(void)
{
    own_memory_note((const void *)(uintptr_t)OWN_PAGE_BYTES, OWN_PAGE_BYTES);
    (void)limit_ns(MT_CONSUMER_READY, &header);
}

DAMAGE(make, empty_range, word_of((struct own_range){8192, 8192}))
DAMAGE(make, half_a_page, word_of((struct own_range){1, 8192}))
DAMAGE(make, no_such_place, change(RANGES, 0, 1))
DAMAGE(make, no_place_to_read, uint64_t word; range_at(RANGES, &word))
DAMAGE(make, no_such_state, limit_ns(MT_CONSUMER_STATES, &header))

int main(void)
{
    return deaths_run();
}
