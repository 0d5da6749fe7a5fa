/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest of many blocks, one by one, with sums of all of them.
 *
 * Memory is bounded by how many rows are wanted. Largest first; among equals, the oldest.
 */
#ifndef LEAKTIDE_ANALYSES_BLOCK_LIST_H
#define LEAKTIDE_ANALYSES_BLOCK_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis.h"
#include "lives.h"

enum { BLOCK_LIST_MAX = 10000 };

struct block_list {
    struct life *rows; /* a heap, smallest first, until it is sorted */
    size_t count, most;
    uint64_t all_count, all_bytes;
    uint64_t smallest_bytes, largest_bytes; /* of all */
};

/* most 0: BLOCK_LIST_MAX. */
void block_list_init(struct block_list *list, size_t most);
void block_list_release(struct block_list *list);
/* False when there is no memory. */
bool block_list_put(struct block_list *list, const struct life *life);
/* Sorts the list and shows it; share: of whole_bytes, unless that is 0. */
void block_list_show(struct block_list *list, const struct question *question,
                     struct report *report, struct report_table *table, uint64_t whole_bytes);

#endif
