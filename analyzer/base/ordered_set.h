/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys in order: the least one that is not below a given one is found in logarithmic time.
 *
 * A key is three numbers, compared one after the other, and carries the number of a row. No two
 * keys are the same. A treap: each node has a random rank, above those of its children.
 */
#ifndef LEAKTIDE_BASE_ORDERED_SET_H
#define LEAKTIDE_BASE_ORDERED_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ordered_key {
    uint64_t first, second, third;
};

struct ordered_node {
    struct ordered_key key;
    uint32_t row;
    uint32_t rank;
    uint32_t below, above; /* children; 0: none */
};

struct ordered_set {
    struct ordered_node *nodes; /* from 1 on */
    size_t count, capacity;     /* of nodes in use, and of memory */
    size_t made;                /* nodes ever in use at once */
    uint32_t root;
    uint32_t spare; /* first of a list of unused nodes, linked by `above` */
    uint64_t seed;
};

void ordered_set_init(struct ordered_set *set);
void ordered_set_release(struct ordered_set *set);

/* The key must not be there yet. False when there is no memory. */
bool ordered_set_add(struct ordered_set *set, struct ordered_key key, uint32_t row);
/* The key must be there. */
void ordered_set_remove(struct ordered_set *set, struct ordered_key key);
/* Asserts that keys and ranks are in order, and that every node is in use or spare. */
void ordered_set_check(const struct ordered_set *set);

/* The least key that is not below `key`; NULL: none. Good until the next change. */
const struct ordered_node *ordered_set_at_least(const struct ordered_set *set,
                                                struct ordered_key key);

/* The key after it: nothing lies between. */
static inline struct ordered_key ordered_key_behind(struct ordered_key key)
{
    key.third++;
    return key;
}

#endif
