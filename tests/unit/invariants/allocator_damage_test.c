/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the model of a caching allocator, with its insides.
 */
#include <stdint.h>
#include <unistd.h>

#include "caching_allocator.c"
#include "death.h"

static struct caching_allocator *allocator;
static uint32_t taken;

/* One segment: a taken chunk, another, and what is left of it, which is free. */
static void make(void)
{
    struct allocator_settings settings = {.max_split_bytes = ALLOCATOR_SPLITS_ALL};

    if (caching_allocator_create(&settings, &allocator, NULL) != MT_OK)
        _exit(1);
    taken = caching_allocator_take(allocator, 0, 1000);
    caching_allocator_take(allocator, 0, 1000);
    caching_allocator_check(allocator);
}

static struct chunk *first(void)
{
    return chunk_at(allocator, taken);
}

static struct chunk *second(void)
{
    return chunk_at(allocator, first()->after);
}

#define LOOK(name, ...) DAMAGE(make, name, __VA_ARGS__; caching_allocator_check(allocator))

DAMAGE(make, given_twice, caching_allocator_give(allocator, taken);
       caching_allocator_give(allocator, taken))
DAMAGE(make, given_unknown, caching_allocator_give(allocator, 1000))
DAMAGE(make, given_too_much, allocator->totals.taken_bytes = 1;
       caching_allocator_give(allocator, taken))
DAMAGE(make, cut_nothing, cut(allocator, taken, 0))
DAMAGE(make, swallowed_nothing, swallow_next(allocator, second()->after))
DAMAGE(make, swallowed_another, swallow_next(allocator, first()->after))
LOOK(chunk_of_no_bytes, first()->size_bytes = 0)
LOOK(chunk_before, first()->after = 0)
LOOK(chunk_after, chunk_at(allocator, second()->after)->before = 0)
LOOK(chunk_lane, second()->lane = 7)
LOOK(chunk_address, second()->address++)
LOOK(chunk_neighbours, second()->state = CHUNK_FREE)
LOOK(chunk_state, first()->state = CHUNK_UNMAPPED + 1)
LOOK(free_count, allocator->free_chunks.count++)
LOOK(unmapped_count, allocator->unmapped_chunks.count++)
LOOK(taken_bytes, allocator->totals.taken_bytes++)
LOOK(reserved_bytes, allocator->totals.reserved_bytes++)
LOOK(reserved_peak, allocator->totals.reserved_peak_bytes = 0)

int main(void)
{
    return deaths_run();
}
