/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the places of msmemscope's host leaks.
 */
#include <stdint.h>

#include "death.h"
#include "host_leaks.c"

static struct place place;

static void make(void)
{
    place = (struct place){.alloc_bytes = 16,
                           .alloc_count = 2,
                           .freed_bytes = 8,
                           .freed_count = 1,
                           .live_bytes = 8,
                           .live_count = 1};
    place_check(&place);
}

DAMAGE(make, place_count, place.freed_count++; place_check(&place))
DAMAGE(make, place_bytes, place.freed_bytes++; place_check(&place))
DAMAGE(make, place_of_nothing, place.live_count = 0; place.freed_count = 2; place_check(&place))
DAMAGE(make, place_never_used, place = (struct place){.site = 3}; place_check(&place))

int main(void)
{
    return deaths_run();
}
