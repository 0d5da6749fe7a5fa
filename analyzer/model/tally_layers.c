/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which blocks of a pool are cut up for another one: a segment of a caching allocator, or the block
 * of the driver that a runtime's block is. A block is, when one of a pool above was handed out
 * inside of it; memory without an address of its own, when one was inside of where it is mapped.
 *
 *   block of pool -> at the same address, or inside of a span of a ledger below -> cut_up_bytes of
 *   that one's group
 *
 * Spans of a ledger are kept from the first block on that may lie there. Host memory, whose blocks
 * are many, has none: there a block of a framework begins where malloc's does, or in the first page
 * of a mapping.
 */
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "tally_state.h"

enum { OUTERS_MOST = 8, PAGE_BYTES = 4096 };

/* A block, or where one is mapped. */
struct span {
    uint64_t address, size_bytes;
    uint32_t group; /* of whose memory it is; 0: not known */
    bool is_cut_up;
};

struct span_list {
    struct span *rows;
    size_t count, capacity;
};

struct ledger_layer {
    size_t known_ledgers; /* among which those below were looked for */
    uint16_t outers[OUTERS_MOST];
    size_t outer_count;
    bool has_spans;
    struct span_list spans;    /* by address */
    bool has_unmapped;         /* some of its memory is mapped elsewhere */
    struct span_list unmapped; /* blocks that may be */
};

void tally_layers_release(struct tally *tally)
{
    for (size_t i = 0; i < tally->layer_count; i++) {
        free(tally->layers[i].spans.rows);
        free(tally->layers[i].unmapped.rows);
    }
    free(tally->layers);
    tally->layers = NULL;
    tally->layer_count = 0;
}

static const struct pool *pool_of(const struct tally *tally, const struct ledger *ledger)
{
    return model_pool_at(tally->model, ledger->pool);
}

/* NULL without memory. */
static struct ledger_layer *layer_of(struct tally *tally, uint16_t ledger)
{
    if (!list_reach(&tally->layers, &tally->layer_count, ledger, sizeof(*tally->layers))) {
        tally->has_failed = true;
        return NULL;
    }
    return &tally->layers[ledger];
}

/* --- spans ------------------------------------------------------------------------------------ */

/* The first that ends after the address. */
static size_t span_after(const struct span_list *list, uint64_t address)
{
    size_t low = 0, high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct span *row = &list->rows[middle];

        if (row->address + row->size_bytes > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void span_insert(struct tally *tally, struct span_list *list, size_t at, struct span span)
{
    if (!list_has_room(&list->rows, &list->capacity, list->count, sizeof(*list->rows))) {
        tally->has_failed = true;
        return;
    }
    memmove(&list->rows[at + 1], &list->rows[at], (list->count - at) * sizeof(*list->rows));
    list->rows[at] = span;
    list->count++;
}

static void span_remove(struct span_list *list, size_t at)
{
    list->count--;
    memmove(&list->rows[at], &list->rows[at + 1], (list->count - at) * sizeof(*list->rows));
}

static void cut_up(struct tally *tally, uint32_t group, uint64_t size_bytes)
{
    struct group_detail *detail = table_at(&tally->details, group);

    detail->cut_up_bytes += size_bytes;
    ledger_at(tally, group_at(tally, group)->ledger)->cut_up_bytes += size_bytes;
}

/* A block of a pool above is inside. */
static void cut_spans(struct tally *tally, struct span_list *list, const struct live_block *inner)
{
    struct ledger *above = ledger_at(tally, tally_group_ledger(tally, inner->group));

    for (size_t i = span_after(list, inner->address);
         i < list->count && list->rows[i].address < inner->address + inner->size_bytes; i++) {
        struct span *row = &list->rows[i];

        above->is_placed = true;
        if (row->is_cut_up || !row->group)
            continue;
        row->is_cut_up = true;
        cut_up(tally, row->group, row->size_bytes);
    }
}

/* Blocks of one ledger, put into a list. */
struct collection {
    struct tally *tally;
    uint16_t ledger;
    struct span_list *into;
};

static void collect(void *context, const struct live_block *block)
{
    struct collection *collection = context;

    if (tally_group_ledger(collection->tally, block->group) == collection->ledger)
        span_insert(collection->tally, collection->into, collection->into->count,
                    (struct span){block->address, block->size_bytes, block->group, false});
}

static int span_compare(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

static void collect_blocks(struct tally *tally, uint16_t ledger, struct span_list *into)
{
    struct collection collection = {tally, ledger, into};

    live_set_each(&tally->live, collect, &collection);
    if (into->count)
        qsort(into->rows, into->count, sizeof(*into->rows), span_compare);
}

/* --- what is mapped --------------------------------------------------------------------------- */

/* The ledger whose memory a mapping shows; the mapping's own: there is none. */
static uint16_t mapped_ledger(const struct tally *tally, uint16_t mapping)
{
    const struct ledger *row = ledger_at(tally, mapping);

    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++) {
        const struct ledger *other = ledger_at(tally, (uint32_t)i);

        if (other->kind == LEDGER_MEMORY && other->device == row->device &&
            pool_of(tally, row)->lies_in == pool_of(tally, other)->id)
            return (uint16_t)i;
    }
    return mapping;
}

/* Nobody tells which memory is mapped: the newest of its size that is not. The group of it. */
static uint32_t take_unmapped(struct tally *tally, uint16_t ledger, uint64_t size_bytes)
{
    struct ledger_layer *layer = layer_of(tally, ledger);
    uint32_t group = 0;

    if (!layer)
        return 0;
    if (!layer->has_unmapped) {
        layer->has_unmapped = true;
        collect_blocks(tally, ledger, &layer->unmapped);
    }
    for (size_t i = layer->unmapped.count; !group && i--;) {
        if (layer->unmapped.rows[i].size_bytes != size_bytes)
            continue;
        group = layer->unmapped.rows[i].group;
        ((struct group_detail *)table_at(&tally->details, group))->mapped_bytes += size_bytes;
        span_remove(&layer->unmapped, i);
    }
    return group;
}

static void mapping_born(struct tally *tally, uint16_t ledger, const struct live_block *block)
{
    uint16_t memory = mapped_ledger(tally, ledger);
    uint32_t group = memory == ledger ? 0 : take_unmapped(tally, memory, block->size_bytes);
    struct ledger_layer *layer = layer_of(tally, ledger);

    if (!layer)
        return;
    layer->has_spans = true;
    span_insert(tally, &layer->spans, span_after(&layer->spans, block->address),
                (struct span){block->address, block->size_bytes, group, false});
}

/* --- blocks ----------------------------------------------------------------------------------- */

bool ledger_may_lie_in(const struct model *model, const struct ledger *inner,
                       const struct ledger *outer)
{
    const struct pool *pool = model_pool_at(model, outer->pool);

    if (inner->process != outer->process || inner->device != outer->device ||
        (outer->kind != LEDGER_MAPPING && !ledger_is_memory(outer)))
        return false;
    if (outer->kind == LEDGER_MAPPING)
        pool = pool_by_id(pool->lies_in);
    return pool_lies_in(model_pool_at(model, inner->pool), pool);
}

/* Those that its blocks may lie in: ledgers only come. */
static void find_outers(struct tally *tally, uint16_t ledger, struct ledger_layer *layer)
{
    const struct ledger *inner = ledger_at(tally, ledger);

    layer->outer_count = 0;
    layer->known_ledgers = tally->ledger_count;
    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++)
        if (i != ledger && layer->outer_count < OUTERS_MOST &&
            ledger_may_lie_in(tally->model, inner, ledger_at(tally, (uint32_t)i)))
            layer->outers[layer->outer_count++] = (uint16_t)i;
}

/* The block of the other ledger that begins where this one does, if there is one. The header of a
 * tensor that processes share stands before it, at the beginning of the mapping. */
static void cut_block(struct tally *tally, uint16_t ledger, const struct live_block *inner)
{
    bool is_malloc = pool_of(tally, ledger_at(tally, ledger))->id == POOL_HOST;
    uint64_t address = is_malloc ? inner->address : inner->address & ~(uint64_t)(PAGE_BYTES - 1);
    struct live_place place = live_set_find(&tally->live, live_hash(address), address);

    while (place.bucket && tally_group_ledger(tally, place.bucket->group[place.slot]) != ledger)
        place = live_set_find_next(&tally->live, address, place);
    if (!place.bucket)
        return;
    ledger_at(tally, tally_group_ledger(tally, inner->group))->is_placed = true;
    cut_up(tally, place.bucket->group[place.slot], live_set_at(&tally->live, place).size_bytes);
}

static void look_into(struct tally *tally, uint16_t ledger, const struct live_block *inner)
{
    struct ledger_layer *layer = layer_of(tally, ledger);

    if (!layer)
        return;
    if (ledger_at(tally, ledger)->device < 0) {
        cut_block(tally, ledger, inner);
        return;
    }
    if (!layer->has_spans) {
        layer->has_spans = true;
        collect_blocks(tally, ledger, &layer->spans);
    }
    cut_spans(tally, &layer->spans, inner);
}

void tally_layers_born(struct tally *tally, const struct live_block *block)
{
    uint16_t ledger = tally_group_ledger(tally, block->group);
    struct ledger_layer *layer = layer_of(tally, ledger);

    if (!layer)
        return;
    if (ledger_at(tally, ledger)->kind == LEDGER_MAPPING) {
        mapping_born(tally, ledger, block);
        return;
    }
    if (layer->known_ledgers != tally->ledger_count)
        find_outers(tally, ledger, layer);
    for (size_t i = 0; i < tally->layers[ledger].outer_count; i++)
        look_into(tally, tally->layers[ledger].outers[i], block);
    layer = &tally->layers[ledger];
    if (layer->has_spans)
        span_insert(tally, &layer->spans, span_after(&layer->spans, block->address),
                    (struct span){block->address, block->size_bytes, block->group, false});
    if (layer->has_unmapped)
        span_insert(tally, &layer->unmapped, layer->unmapped.count,
                    (struct span){block->address, block->size_bytes, block->group, false});
}

static void forget(struct span_list *list, size_t at, uint64_t address)
{
    if (at < list->count && list->rows[at].address == address)
        span_remove(list, at);
}

void tally_layers_gone(struct tally *tally, const struct live_block *block)
{
    struct ledger_layer *layer = layer_of(tally, tally_group_ledger(tally, block->group));

    if (!layer)
        return;
    if (layer->has_spans)
        forget(&layer->spans, span_after(&layer->spans, block->address), block->address);
    for (size_t i = layer->unmapped.count; i--;)
        if (layer->unmapped.rows[i].address == block->address) {
            span_remove(&layer->unmapped, i);
            break;
        }
}

/* --- ledgers ---------------------------------------------------------------------------------- */

/* Both had blocks; addresses and views are no memory that blocks could lie in. */
static bool lies_in(const struct tally *tally, const struct ledger *inner,
                    const struct ledger *outer)
{
    return inner->peak_bytes && outer->peak_bytes && ledger_is_memory(outer) &&
           ledger_may_lie_in(tally->model, inner, outer);
}

/* Of the process's own memory, what no block was seen to lie in is no pool's: all has an address.
 * Sums of ledgers alone do not see it. */
static bool is_taken_from(const struct tally *tally, const struct ledger *outer)
{
    return outer->device >= 0 || outer->cut_up_bytes || tally->is_of_ledgers;
}

/* No third ledger lies between the two. */
static bool lies_directly_in(const struct tally *tally, const struct ledger *inner,
                             const struct ledger *outer)
{
    if (!lies_in(tally, inner, outer))
        return false;
    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++) {
        const struct ledger *between = ledger_at(tally, (uint32_t)i);

        if (between->kind == inner->kind && lies_in(tally, inner, between) &&
            lies_in(tally, between, outer))
            return false;
    }
    return true;
}

void tally_layers_settle(struct tally *tally)
{
    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++) {
        struct ledger *inner = ledger_at(tally, (uint32_t)i);

        for (size_t k = tally->process_first_ledger; k < tally->ledger_count; k++) {
            struct ledger *outer = ledger_at(tally, (uint32_t)k);

            outer->is_reserved |= ledger_is_memory(inner) && is_taken_from(tally, outer) &&
                                  lies_in(tally, inner, outer);
            if (!inner->below && lies_directly_in(tally, inner, outer))
                inner->below = (uint16_t)(k + 1);
        }
    }
}
