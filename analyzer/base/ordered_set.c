/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys in order.
 */
#include "ordered_set.h"

#include <stdlib.h>

#include "hash.h"
#include "leaktide/invariant.h"
#include "list.h"

enum { checked_most = 64 };

void ordered_set_init(struct ordered_set *set)
{
    *set = (struct ordered_set){.nodes = NULL};
}

void ordered_set_release(struct ordered_set *set)
{
    free(set->nodes);
    ordered_set_init(set);
}

static int compare(struct ordered_key a, struct ordered_key b)
{
    if (a.first != b.first)
        return a.first < b.first ? -1 : 1;
    if (a.second != b.second)
        return a.second < b.second ? -1 : 1;
    return (a.third > b.third) - (a.third < b.third);
}

/* 0: no memory. */
static uint32_t node_take(struct ordered_set *set)
{
    uint32_t node = set->spare;

    if (node) {
        set->spare = set->nodes[node].above;
        return node;
    }
    if (set->made + 1 >= UINT32_MAX ||
        !list_reach(&set->nodes, &set->capacity, set->made + 1, sizeof(*set->nodes)))
        return 0;
    return (uint32_t)++set->made;
}

/* What is below the key, and the rest. */
static void split(struct ordered_set *set, uint32_t tree, struct ordered_key key, uint32_t *below,
                  uint32_t *above)
{
    while (tree) {
        struct ordered_node *node = &set->nodes[tree];

        if (compare(node->key, key) < 0) {
            *below = tree;
            below = &node->above;
            tree = node->above;
        } else {
            *above = tree;
            above = &node->below;
            tree = node->below;
        }
    }
    *below = *above = 0;
}

/* All keys of the one are below those of the other. */
static uint32_t join(struct ordered_set *set, uint32_t below, uint32_t above)
{
    uint32_t root = 0;
    uint32_t *link = &root;

    while (below && above) {
        if (set->nodes[below].rank > set->nodes[above].rank) {
            *link = below;
            link = &set->nodes[below].above;
            below = *link;
        } else {
            *link = above;
            link = &set->nodes[above].below;
            above = *link;
        }
    }
    *link = below ? below : above;
    return root;
}

/* The nodes below this one, itself included. */
static size_t tree_check(const struct ordered_set *set, uint32_t at)
{
    const struct ordered_node *node = &set->nodes[at];
    size_t count = 1;

    MT_ASSERT(at <= set->made);
    if (node->below) {
        MT_ASSERT(set->nodes[node->below].rank <= node->rank);
        MT_ASSERT(compare(set->nodes[node->below].key, node->key) < 0);
        count += tree_check(set, node->below);
    }
    if (node->above) {
        MT_ASSERT(set->nodes[node->above].rank <= node->rank);
        MT_ASSERT(compare(set->nodes[node->above].key, node->key) > 0);
        count += tree_check(set, node->above);
    }
    return count;
}

void ordered_set_check(const struct ordered_set *set)
{
    size_t spare_count = 0;

    MT_ASSERT(!set->made || set->made < set->capacity);
    for (uint32_t spare = set->spare; spare; spare = set->nodes[spare].above) {
        MT_ASSERT(spare <= set->made);
        MT_ASSERT(spare_count < set->made); /* else the list is a ring */
        spare_count++;
    }
    MT_ASSERT((set->root ? tree_check(set, set->root) : 0) == set->count);
    MT_ASSERT(set->count + spare_count == set->made);
}

bool ordered_set_add(struct ordered_set *set, struct ordered_key key, uint32_t row)
{
    uint32_t added = node_take(set);
    struct ordered_node *node;
    uint32_t *link = &set->root;

    if (!added)
        return false;
    node = &set->nodes[added];
    *node = (struct ordered_node){
        .key = key, .row = row, .rank = (uint32_t)(hash_u64(++set->seed) >> 32)};
    while (*link && set->nodes[*link].rank >= node->rank) {
        struct ordered_node *other = &set->nodes[*link];

        link = compare(other->key, key) < 0 ? &other->above : &other->below;
    }
    split(set, *link, key, &node->below, &node->above);
    *link = added;
    set->count++;
    if (MT_ASSERTS && set->count <= checked_most)
        ordered_set_check(set);
    return true;
}

void ordered_set_remove(struct ordered_set *set, struct ordered_key key)
{
    uint32_t *link = &set->root;
    uint32_t removed;

    while (*link && compare(set->nodes[*link].key, key) != 0)
        link = compare(set->nodes[*link].key, key) < 0 ? &set->nodes[*link].above
                                                       : &set->nodes[*link].below;
    removed = *link;
    MT_ASSERT(removed);
    *link = join(set, set->nodes[removed].below, set->nodes[removed].above);
    set->nodes[removed].above = set->spare;
    set->spare = removed;
    set->count--;
}

const struct ordered_node *ordered_set_at_least(const struct ordered_set *set,
                                                struct ordered_key key)
{
    uint32_t best = 0;

    for (uint32_t at = set->root; at;) {
        if (compare(set->nodes[at].key, key) < 0) {
            at = set->nodes[at].above;
        } else {
            best = at;
            at = set->nodes[at].below;
        }
    }
    return best ? &set->nodes[best] : NULL;
}
