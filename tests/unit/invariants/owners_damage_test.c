/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the owners of blocks, with their insides.
 */
#include <stdint.h>
#include <stdlib.h>

#include "death.h"
#include "owner_source.c"

static struct owner_source *source;

static void make(void)
{
    source = calloc(1, sizeof(*source));
    owned_add(source, (struct owned){.alloc = 1, .name_count = 1});
    owned_add(source, (struct owned){.alloc = 5, .name_count = 1});
    owned_check(source);
}

static void pass(void)
{
    source->batch.count = 1;
    plain_count(source);
}

DAMAGE(make, owned_capacity, source->capacity = 1; owned_check(source))
DAMAGE(make, owned_order, source->owned[1].alloc = 1; owned_check(source))
DAMAGE(make, owned_names, source->owned[0].name_count = 0; owned_check(source))
DAMAGE(make, owned_beyond, source->next = 3; pass())
DAMAGE(make, owned_passed_over, source->event_count = 3; pass())

int main(void)
{
    return deaths_run();
}
