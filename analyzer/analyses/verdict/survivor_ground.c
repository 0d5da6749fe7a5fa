/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of all stacks of one origin.
 */
#include "survivor_ground.h"

#include <stdlib.h>

#include "compare.h"
#include "thresholds.h"

struct survivor_ground survivor_ground_of(uint16_t ledger, bool has_survivors,
                                          const struct overdue *overdue)
{
    struct survivor_ground ground = {.ledger = ledger,
                                     .is_active = overdue->is_active,
                                     .has_survivors = has_survivors,
                                     .has_stopped =
                                         !overdue->is_active && overdue->births >= SURVIVORS_MIN};
    bool is_unsure = overdue->births < SURVIVORS_MIN || overdue->reason == OVERDUE_LIVES_UNSEEN;

    if (is_unsure)
        ground.unsure_bytes = overdue->left_bytes;
    else if (overdue->reason == OVERDUE_FEW)
        ground.unsure_bytes = overdue->overdue_bytes;
    ground.gone_bytes = has_survivors ? 0 : overdue->left_bytes - ground.unsure_bytes;
    return ground;
}

bool survivor_ground_tells(const struct survivor_ground *ground)
{
    return ground->is_active || ground->has_survivors || ground->has_stopped ||
           ground->gone_bytes || ground->unsure_bytes;
}

static int ground_compare(const void *left, const void *right)
{
    const struct survivor_ground *a = left, *b = right;

    if (a->ledger != b->ledger)
        return a->ledger < b->ledger ? -1 : 1;
    return compare_numbers(a->name, b->name);
}

size_t survivor_grounds_join(struct survivor_ground *rows, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(rows, count, sizeof(*rows), ground_compare);
    for (size_t i = 0; i < count; i++) {
        struct survivor_ground *last = kept ? &rows[kept - 1] : NULL;

        if (!last || ground_compare(last, &rows[i]) != 0) {
            rows[kept++] = rows[i];
            continue;
        }
        last->is_active |= rows[i].is_active;
        last->has_survivors |= rows[i].has_survivors;
        last->has_stopped |= rows[i].has_stopped;
        last->gone_bytes += rows[i].gone_bytes;
        last->unsure_bytes += rows[i].unsure_bytes;
    }
    return kept;
}

const struct survivor_ground *survivor_ground_find(const struct survivor_ground *rows, size_t count,
                                                   uint16_t ledger, uint64_t name)
{
    struct survivor_ground wanted = {.name = name, .ledger = ledger};

    return count ? bsearch(&wanted, rows, count, sizeof(*rows), ground_compare) : NULL;
}

bool survivor_ground_denies(const struct survivor_ground *ground)
{
    return ground->is_active && !ground->has_survivors && ground->gone_bytes > 0 &&
           ground->gone_bytes >= ground->unsure_bytes;
}
