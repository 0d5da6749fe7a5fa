/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: `owned` is in the order of the allocs, so a reading finds the next one without a
 * search.
 *
 * Events count from 1 in the order of reading. The reading that looks for the blocks keeps those
 * that are alive and hold an address that is named at some time, by pool and address; of an address
 * the block with the greatest start that is not above it is found first, so keys count addresses
 * from above.
 */
#include "owner_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_reader.h"
#include "hash.h"
#include "leaktide/invariant.h"
#include "list.h"
#include "ordered_set.h"

enum { GROWTH = 3, TAGS_DEEP = 64, OWNER_BYTES = 1024, NAMES_MOST = 8 };

/* A bit for each start of a block that is kept, by its hash. */
enum { START_BITS = 14 };

/* A block that somebody named, and its names: that from its alloc first, if it has one. */
struct owned {
    uint64_t alloc;             /* number of the event */
    uint32_t owner;             /* text: all of them; 0 until the first reading is over */
    uint32_t names[NAMES_MOST]; /* texts */
    uint32_t name_count;
};

struct live {
    uint64_t address, size_bytes, alloc;
    uint32_t owner; /* when it was taken; text */
    uint32_t owned; /* index + 1 of its row; 0: none */
    uint32_t next_free;
};

/* Tags that are open on a thread. */
struct tags {
    uint32_t owners[TAGS_DEEP];
    uint32_t depth; /* may pass TAGS_DEEP */
};

struct finding {
    struct live *rows;
    size_t count, capacity;
    uint32_t free_row; /* index + 1 */
    struct ordered_set by_address;
    struct tags *threads;
    size_t thread_count;
    uint16_t pool_count; /* that had a block */
    struct owner_places *places;
    uint64_t starts[(1 << START_BITS) / 64];
    struct owner_source *source;
    uint64_t event_count;
    bool has_failed;
};

struct owner_source {
    struct event_source inner;
    struct event_reader reader; /* of inner */
    struct owned *owned;
    size_t count, capacity;
    /* While reading. */
    struct event_batch batch;
    size_t next;
    uint64_t event_count; /* that were handed out */
    struct event named[GROWTH];
};

/* --- the reading that looks for the blocks ----------------------------------------------------
 */

static struct ordered_key key_of(uint16_t pool, uint64_t address, uint64_t alloc)
{
    return (struct ordered_key){pool, ~address, alloc};
}

/* The newest block of the pool that starts at the address or next below it; NULL: none. */
static struct live *block_at_or_below(const struct finding *finding, uint16_t pool,
                                      uint64_t address)
{
    const struct ordered_node *node =
        ordered_set_at_least(&finding->by_address, key_of(pool, address, 0));

    return node && node->key.first == pool ? &finding->rows[node->row] : NULL;
}

static uint64_t *start_word(struct finding *finding, uint64_t address, uint64_t *bit)
{
    uint64_t hash = hash_u64(address) >> (64 - START_BITS);

    *bit = UINT64_C(1) << (hash & 63);
    return &finding->starts[hash >> 6];
}

static void block_end(struct finding *finding, const struct event *event)
{
    struct live *block;
    uint64_t bit;

    if (!(*start_word(finding, event->address, &bit) & bit))
        return;
    block = block_at_or_below(finding, event->pool, event->address);
    if (!block || block->address != event->address)
        return;
    ordered_set_remove(&finding->by_address, key_of(event->pool, block->address, block->alloc));
    block->next_free = finding->free_row;
    finding->free_row = (uint32_t)(block - finding->rows) + 1;
}

static struct tags *tags_of(struct finding *finding, uint32_t thread)
{
    if (!list_reach(&finding->threads, &finding->thread_count, thread, sizeof(struct tags))) {
        finding->has_failed = true;
        return NULL;
    }
    return &finding->threads[thread];
}

static uint32_t open_owner(const struct tags *tags)
{
    return tags->depth && tags->depth <= TAGS_DEEP ? tags->owners[tags->depth - 1] : 0;
}

static void tag_change(struct finding *finding, const struct event *event)
{
    struct tags *tags = tags_of(finding, event->thread);

    if (!tags)
        return;
    if (event->kind == EVENT_TAG_BEGIN) {
        if (tags->depth < TAGS_DEEP)
            tags->owners[tags->depth] = event->text;
        tags->depth++;
    } else if (tags->depth) {
        tags->depth--;
    }
}

static void block_begin(struct finding *finding, const struct event *event)
{
    const struct tags *tags;
    uint64_t bit;
    uint32_t row;

    block_end(finding, event); /* its free was not seen */
    if (!owner_places_touch(finding->places, event->address, event->value))
        return;
    tags = tags_of(finding, event->thread);
    row = finding->free_row;
    if (!tags || (!row && !list_has_room(&finding->rows, &finding->capacity, finding->count,
                                         sizeof(*finding->rows)))) {
        finding->has_failed = true;
        return;
    }
    if (row)
        finding->free_row = finding->rows[--row].next_free;
    else
        row = (uint32_t)finding->count++;
    finding->rows[row] = (struct live){.address = event->address,
                                       .size_bytes = event->value,
                                       .alloc = finding->event_count,
                                       .owner = open_owner(tags)};
    *start_word(finding, event->address, &bit) |= bit;
    if (event->pool >= finding->pool_count)
        finding->pool_count = (uint16_t)(event->pool + 1);
    if (!ordered_set_add(&finding->by_address,
                         key_of(event->pool, event->address, finding->event_count), row))
        finding->has_failed = true;
}

static struct live *smallest_that_holds(const struct finding *finding, uint64_t address)
{
    struct live *smallest = NULL;

    for (uint16_t pool = 0; pool < finding->pool_count; pool++) {
        struct live *block = block_at_or_below(finding, pool, address);

        if (block && address - block->address < block->size_bytes &&
            (!smallest || block->size_bytes < smallest->size_bytes))
            smallest = block;
    }
    return smallest;
}

static bool owned_add(struct owner_source *source, struct owned row)
{
    if (!list_has_room(&source->owned, &source->capacity, source->count, sizeof(*source->owned)))
        return false;
    source->owned[source->count++] = row;
    return true;
}

static void name_add(struct owned *owned, uint32_t name)
{
    for (uint32_t i = 0; i < owned->name_count; i++)
        if (owned->names[i] == name)
            return;
    if (name && owned->name_count < NAMES_MOST)
        owned->names[owned->name_count++] = name;
}

static void block_name(struct finding *finding, struct live *block, uint32_t name)
{
    struct owner_source *source = finding->source;

    if (!block->owned) {
        if (!owned_add(source, (struct owned){.alloc = block->alloc})) {
            finding->has_failed = true;
            return;
        }
        block->owned = (uint32_t)source->count;
        name_add(&source->owned[block->owned - 1], block->owner);
    }
    name_add(&source->owned[block->owned - 1], name);
}

/* The smallest block that holds the address, and those that it is in other pools. */
static void blocks_name(struct finding *finding, const struct event *event)
{
    const struct live *smallest = smallest_that_holds(finding, event->address);

    for (uint16_t pool = 0; smallest && event->text && pool < finding->pool_count; pool++) {
        struct live *block = block_at_or_below(finding, pool, event->address);

        if (block && block->address == smallest->address &&
            block->size_bytes == smallest->size_bytes)
            block_name(finding, block, event->text);
    }
}

/* "model@weight". After the reading: before, the model belongs to whoever reads. */
static void owner_join(struct model *model, struct owned *owned)
{
    char joined[OWNER_BYTES];
    size_t length = 0;

    for (uint32_t i = 0; i < owned->name_count; i++) {
        const char *name = model_text_at(model, owned->names[i]);
        int added = snprintf(joined + length, sizeof(joined) - length, "%s%s", i ? "@" : "", name);

        if (added < 0 || length + (size_t)added >= sizeof(joined))
            break;
        length += (size_t)added;
    }
    owned->owner = model_text(model, joined, length);
}

static void process_begin(struct finding *finding, uint16_t process)
{
    owner_places_begin(finding->places, process);
    memset(finding->starts, 0, sizeof(finding->starts));
    ordered_set_release(&finding->by_address);
    ordered_set_init(&finding->by_address);
    finding->count = 0;
    finding->free_row = 0;
}

static void find_in(struct finding *finding, const struct event *event)
{
    finding->event_count++;
    switch (event->kind) {
    case EVENT_ALLOC:
        block_begin(finding, event);
        break;
    case EVENT_FREE:
        block_end(finding, event);
        break;
    case EVENT_TAG_BEGIN:
    case EVENT_TAG_END:
        tag_change(finding, event);
        break;
    case EVENT_BLOCK_OWNER:
        blocks_name(finding, event);
        break;
    default:
        break;
    }
}

static enum mt_result find_all(struct finding *finding, struct mt_error *error)
{
    struct owner_source *source = finding->source;
    enum mt_result result = source->inner.rewind(source->inner.context, error);
    const struct event *batch;
    bool has_process = false;
    uint16_t process = 0;
    size_t count = 1;

    while (result == MT_OK && count && !finding->has_failed) {
        result = event_reader_next(&source->reader, &batch, &count, error);
        if (result != MT_OK || !count)
            break;
        if (!has_process || batch[0].process != process)
            process_begin(finding, batch[0].process);
        has_process = true;
        process = batch[0].process;
        for (size_t i = 0; i < count; i++)
            find_in(finding, &batch[i]);
    }
    if (result == MT_OK && finding->has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the owners of blocks");
    return result;
}

static int by_alloc(const void *a, const void *b)
{
    const struct owned *left = a, *right = b;

    return (left->alloc > right->alloc) - (left->alloc < right->alloc);
}

/* In the order of the allocs, so that a reading finds the next one without a search. */
static void owned_check(const struct owner_source *source)
{
    MT_ASSERT(source->count <= source->capacity);
    for (size_t i = 0; i < source->count; i++) {
        MT_ASSERT(!i || source->owned[i - 1].alloc < source->owned[i].alloc);
        MT_ASSERT(source->owned[i].name_count && source->owned[i].name_count <= NAMES_MOST);
    }
}

/* --- later readings ---------------------------------------------------------------------------
 */

static struct event tag_like(const struct event *event, enum event_kind kind, uint32_t owner)
{
    return (struct event){.time_ns = event->time_ns,
                          .text = owner,
                          .thread = event->thread,
                          .process = event->process,
                          .kind = (uint8_t)kind,
                          .flags = EVENT_IS_PUT_IN};
}

/* How many events of the batch come before the next alloc of a block that somebody named. */
static size_t plain_count(const struct owner_source *source)
{
    size_t left = source->batch.count - source->batch.at;
    uint64_t before;

    MT_ASSERT(source->next <= source->count);
    if (source->next == source->count)
        return left;
    MT_ASSERT(source->owned[source->next].alloc > source->event_count);
    before = source->owned[source->next].alloc - source->event_count - 1;
    return before < left ? (size_t)before : left;
}

/* The alloc between the tags of its owner. */
static void name_alloc(struct owner_source *source, const struct event *event)
{
    uint32_t owner = source->owned[source->next++].owner;

    source->named[0] = tag_like(event, EVENT_TAG_BEGIN, owner);
    source->named[1] = *event;
    source->named[2] = tag_like(event, EVENT_TAG_END, owner);
}

static enum mt_result source_rewind(void *context, struct mt_error *error)
{
    struct owner_source *source = context;

    event_batch_drop(&source->batch);
    source->next = 0;
    source->event_count = 0;
    return source->inner.rewind(source->inner.context, error);
}

static enum mt_result source_lend(void *context, const struct event **events, size_t *count,
                                  struct mt_error *error)
{
    struct owner_source *source = context;
    enum mt_result result = event_batch_reach(&source->batch, &source->reader, error);
    size_t plain;

    *count = 0;
    if (result != MT_OK || !source->batch.count)
        return result;
    plain = plain_count(source);
    *events = source->batch.events + source->batch.at;
    *count = plain;
    if (!plain) {
        name_alloc(source, *events);
        *events = source->named;
        *count = GROWTH;
        plain = 1;
    }
    source->batch.at += plain;
    source->event_count += plain;
    return MT_OK;
}

/* owned: complete. */
static void owners_settle(struct owner_source *source, struct model *model)
{
    for (size_t i = 0; i < source->count; i++)
        owner_join(model, &source->owned[i]);
    if (source->count)
        qsort(source->owned, source->count, sizeof(*source->owned), by_alloc);
    if (MT_ASSERTS)
        owned_check(source);
}

enum mt_result owner_source_create(const struct event_source *inner, struct model *model,
                                   struct owner_places *places, struct owner_source **source,
                                   struct mt_error *error)
{
    struct owner_source *made = calloc(1, sizeof(*made));
    struct finding finding = {.source = made, .places = places};
    enum mt_result result;

    if (!made)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the owners of blocks");
    made->inner = *inner;
    owner_places_finish(places);
    ordered_set_init(&finding.by_address);
    result = event_reader_begin(&made->reader, &made->inner, error);
    if (result == MT_OK)
        result = find_all(&finding, error);
    ordered_set_release(&finding.by_address);
    free(finding.rows);
    free(finding.threads);
    if (result != MT_OK) {
        owner_source_destroy(made);
        return result;
    }
    owners_settle(made, model);
    *source = made;
    return MT_OK;
}

void owner_source_destroy(struct owner_source *source)
{
    if (!source)
        return;
    event_reader_end(&source->reader);
    free(source->owned);
    free(source);
}

struct event_source owner_source_events(struct owner_source *source)
{
    return (struct event_source){source, source_rewind, NULL, source_lend};
}
