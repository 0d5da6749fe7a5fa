/* SPDX-License-Identifier: Apache-2.0 */
#include "segments_below.h"

#include <stdlib.h>

#include "leaktide/invariant.h"
#include "list.h"

struct layer layer_below(const struct tally *tally, const struct ledger *lower,
                         const struct ledger *upper)
{
    const struct model *model = tally_model(tally);
    const struct pool *below = model_pool_at(model, lower->pool);
    struct layer layer = {.is_below = ledger_may_lie_in(model, upper, lower),
                          .is_mapping = lower->kind == LEDGER_MAPPING};

    if (layer.is_mapping)
        below = pool_by_id(below->lies_in);
    if (layer.is_below)
        layer.distance = (uint8_t)pools_between(model_pool_at(model, upper->pool), below);
    return layer;
}

/* --- which of them -------------------------------------------------------------------------- */

static struct range range_of(const struct life *life)
{
    return (struct range){life->address, life->address + life->size_bytes};
}

bool candidates_add(struct candidates *candidates, struct layer layer, const struct life *life)
{
    if (!list_has_room(&candidates->rows, &candidates->capacity, candidates->count,
                       sizeof(*candidates->rows)))
        return false;
    candidates->rows[candidates->count++] = (struct candidate){range_of(life), layer};
    return true;
}

void candidates_release(struct candidates *candidates)
{
    free(candidates->rows);
}

static int by_start(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    return (a->range.from > b->range.from) - (a->range.from < b->range.from);
}

static int nearest_first(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    if (a->layer.distance != b->layer.distance)
        return a->layer.distance < b->layer.distance ? -1 : 1;
    return by_start(left, right);
}

static bool has_some_of(const struct range_set *set, struct range range)
{
    size_t row = range_set_find(set, range.from);

    return row < set->count && set->rows[row].from < range.to;
}

/* Each address once. */
static bool drop_further_ones(struct candidates *candidates, struct range_set *taken)
{
    size_t kept = 0;

    for (size_t i = 0; i < candidates->count; i++) {
        if (has_some_of(taken, candidates->rows[i].range))
            continue;
        if (!range_set_add(taken, candidates->rows[i].range))
            return false;
        candidates->rows[kept++] = candidates->rows[i];
    }
    candidates->count = kept;
    return true;
}

static void join_mappings(struct candidates *candidates)
{
    size_t kept = 0;

    for (size_t i = 0; i < candidates->count; i++) {
        struct candidate *last = kept ? &candidates->rows[kept - 1] : NULL;
        const struct candidate *next = &candidates->rows[i];

        if (last && last->layer.is_mapping && next->layer.is_mapping &&
            last->range.to == next->range.from)
            last->range.to = next->range.to;
        else
            candidates->rows[kept++] = *next;
    }
    candidates->count = kept;
}

static void candidates_check(const struct candidates *candidates)
{
    MT_ASSERT(candidates->count <= candidates->capacity);
    for (size_t i = 0; i < candidates->count; i++) {
        const struct candidate *row = &candidates->rows[i];

        MT_ASSERT(row->layer.is_below);
        MT_ASSERT(row->layer.distance < POOL_COUNT);
        MT_ASSERT(!i || row[-1].range.to <= row->range.from); /* each address once */
    }
}

bool candidates_choose(struct candidates *candidates)
{
    struct range_set taken;
    bool has_memory;

    if (!candidates->count)
        return true;
    range_set_init(&taken);
    qsort(candidates->rows, candidates->count, sizeof(*candidates->rows), nearest_first);
    has_memory = drop_further_ones(candidates, &taken);
    range_set_release(&taken);
    qsort(candidates->rows, candidates->count, sizeof(*candidates->rows), by_start);
    join_mappings(candidates);
    if (has_memory)
        candidates_check(candidates);
    return has_memory;
}

/* --- whose they are ------------------------------------------------------------------------- */

/* With those that it goes on in: a segment that is used for long is one row. */
static struct range joined(const struct range_set *touched, struct range range)
{
    size_t first = range_set_find(touched, range.from ? range.from - 1 : 0);
    size_t last = range_set_find(touched, range.to);

    if (first < touched->count && touched->rows[first].from < range.from)
        range.from = touched->rows[first].from;
    if (last < touched->count && touched->rows[last].from <= range.to)
        range.to = touched->rows[last].to;
    return range;
}

/* Most blocks lie where one lay before. */
bool touched_add(struct range_set *touched, const struct life *block)
{
    struct range range = range_of(block);
    size_t row = range_set_find(touched, range.from);

    if (row < touched->count && touched->rows[row].from <= range.from &&
        touched->rows[row].to >= range.to)
        return true;
    return range_set_add(touched, joined(touched, range));
}

bool touched_take(struct range_set *touched, const struct life *segment, bool *was_touched)
{
    *was_touched = has_some_of(touched, range_of(segment));
    return !*was_touched || !segment->freed_event || range_set_remove(touched, range_of(segment));
}
