/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of a picture: those of the tally that matter, one by one, and the others joined where
 * ledger, label, operator, owner, module and category are the same.
 *
 * A recording with deep call stacks has a million groups. A joined group has of its stacks the
 * frames that all of them share.
 */
#ifndef LEAKTIDE_ANALYSES_PAGE_GROUPS_H
#define LEAKTIDE_ANALYSES_PAGE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "category.h"

struct page_group {
    uint32_t first; /* of the tally: the first that is in it */
    uint32_t stack; /* of the model: shared by all of its sites; 0: none */
    uint32_t group_count;
    enum category category; /* of all that are in it, but for a rest: unknown */
    bool is_rest;           /* of more labels than there is room for: only the ledger is one */
    uint64_t peak_bytes, peak_count, end_bytes;
};

struct page_groups {
    uint32_t *of; /* by group of the tally; 0 of those that came later */
    size_t tally_count;
    struct page_group *rows; /* from 1 */
    size_t count;            /* with row 0 */
};

/* False without memory; release then, too. */
bool page_groups_init(struct page_groups *groups, const struct question *question);
void page_groups_release(struct page_groups *groups);

static inline uint32_t page_group_of(const struct page_groups *groups, uint32_t group)
{
    return group < groups->tally_count ? groups->of[group] : 0;
}

#endif
