/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stretches of addresses that do not overlap, in order.
 *
 * What is added over what is there replaces it; taking a part out of the middle leaves two. Adding
 * and taking cost a move of the rows after it, finding a logarithm.
 */
#ifndef LEAKTIDE_BASE_RANGE_SET_H
#define LEAKTIDE_BASE_RANGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uint64_t from, to; /* [from, to) */
};

struct range_set {
    struct range *rows;
    size_t count, capacity;
    uint64_t size_bytes; /* of all together */
};

void range_set_init(struct range_set *set);
void range_set_release(struct range_set *set);

/* False when there is no memory; the set may then lack a part. An empty range changes nothing. */
bool range_set_add(struct range_set *set, struct range range);
bool range_set_remove(struct range_set *set, struct range range);

/* Asserts order and sum. */
void range_set_check(const struct range_set *set);

/* The row that holds the address, or the first after it; count when there is none. */
size_t range_set_find(const struct range_set *set, uint64_t address);

#endif
