/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caching allocator of PyTorch and torch_npu.
 *
 * Chunks of a segment, or of a line, are linked in order of address. No two neighbours are both
 * free, or both not mapped. All free ones are in one ordered set, by pool and stream, then size,
 * then address; those that are not mapped in another, by address.
 */
#include "caching_allocator.h"

#include <stdlib.h>

#include "leaktide/invariant.h"
#include "list.h"
#include "ordered_set.h"

enum { checked_most = 64 };

#define KIB           UINT64_C(1024)
#define MIB           (1024 * KIB)
#define UNIT          UINT64_C(512)
#define SMALL_MOST    (1 * MIB) /* of a request that goes into the small pool */
#define SMALL_SEGMENT (2 * MIB)
#define LARGE_SEGMENT (20 * MIB)
#define SHARED_MOST   (10 * MIB) /* from here on, a segment of its own */
#define SEGMENT_UNIT  (2 * MIB)
#define UNSPLIT_WASTE (20 * MIB)            /* of a block that may not be split, at most */
#define LINE_BYTES    (LARGE_SEGMENT << 28) /* so that each begins at a page */
#define REQUEST_MOST  (UINT64_C(1) << 48)

enum chunk_state { CHUNK_UNUSED, CHUNK_FREE, CHUNK_TAKEN, CHUNK_UNMAPPED };

struct chunk {
    uint64_t address, size_bytes;
    uint32_t before, after; /* in its segment; 0: none */
    uint32_t lane;          /* stream and pool: lane_of() */
    uint8_t state;          /* enum chunk_state */
};

struct caching_allocator {
    struct allocator_settings settings;
    struct allocator_totals totals;
    struct chunk *chunks; /* from 1 on */
    size_t chunk_count, chunk_capacity;
    uint32_t spare; /* first of a list of unused chunks, linked by `after` */
    struct ordered_set free_chunks, unmapped_chunks;
    uint64_t next_address; /* of a segment */
    uint64_t line_count;
};

static uint64_t round_up(uint64_t number, uint64_t unit)
{
    return (number + unit - 1) / unit * unit;
}

/* --- lanes ---------------------------------------------------------------------------------- */

/* Blocks of one stream and one pool never go to others. */
static uint32_t lane_of(uint32_t stream, bool is_small)
{
    return stream * 2 + is_small;
}

static bool is_small(const struct chunk *chunk)
{
    return chunk->lane & 1;
}

static uint64_t page_of(const struct chunk *chunk)
{
    return is_small(chunk) ? SMALL_SEGMENT : LARGE_SEGMENT;
}

/* --- chunks --------------------------------------------------------------------------------- */

static struct chunk *chunk_at(const struct caching_allocator *allocator, uint32_t index)
{
    MT_ASSERT(index <= allocator->chunk_count);
    return &allocator->chunks[index];
}

/* 0: no memory. Moves the others. */
static uint32_t chunk_make(struct caching_allocator *allocator, struct chunk chunk)
{
    uint32_t index = allocator->spare;

    if (index) {
        allocator->spare = chunk_at(allocator, index)->after;
    } else {
        if (allocator->chunk_count + 1 >= UINT32_MAX ||
            !list_reach(&allocator->chunks, &allocator->chunk_capacity, allocator->chunk_count + 1,
                        sizeof(*allocator->chunks)))
            return 0;
        index = (uint32_t)++allocator->chunk_count;
    }
    *chunk_at(allocator, index) = chunk;
    return index;
}

static void chunk_drop(struct caching_allocator *allocator, uint32_t index)
{
    *chunk_at(allocator, index) = (struct chunk){.after = allocator->spare};
    allocator->spare = index;
}

static struct ordered_key key_of(const struct chunk *chunk)
{
    return (struct ordered_key){chunk->lane, chunk->state == CHUNK_FREE ? chunk->size_bytes : 0,
                                chunk->address};
}

static struct ordered_set *set_of(struct caching_allocator *allocator, const struct chunk *chunk)
{
    return chunk->state == CHUNK_FREE ? &allocator->free_chunks : &allocator->unmapped_chunks;
}

static bool enter(struct caching_allocator *allocator, uint32_t index)
{
    const struct chunk *chunk = chunk_at(allocator, index);

    return ordered_set_add(set_of(allocator, chunk), key_of(chunk), index);
}

static void leave(struct caching_allocator *allocator, uint32_t index)
{
    const struct chunk *chunk = chunk_at(allocator, index);

    ordered_set_remove(set_of(allocator, chunk), key_of(chunk));
}

/* Its first bytes stay; the rest becomes a chunk after it, of the same state, in no set. */
static uint32_t cut(struct caching_allocator *allocator, uint32_t index, uint64_t size_bytes)
{
    struct chunk rest = *chunk_at(allocator, index);
    uint32_t made;

    MT_ASSERT(size_bytes && size_bytes < rest.size_bytes);
    rest.address += size_bytes;
    rest.size_bytes -= size_bytes;
    rest.before = index;
    made = chunk_make(allocator, rest);
    if (!made)
        return 0;
    chunk_at(allocator, index)->size_bytes = size_bytes;
    chunk_at(allocator, index)->after = made;
    if (rest.after)
        chunk_at(allocator, rest.after)->before = made;
    return made;
}

/* The chunk after it, which is in no set, becomes a part of it. */
static void swallow_next(struct caching_allocator *allocator, uint32_t index)
{
    struct chunk *chunk = chunk_at(allocator, index);
    uint32_t next = chunk->after;
    const struct chunk *gone = chunk_at(allocator, next);

    MT_ASSERT(next);
    MT_ASSERT(gone->state == chunk->state);
    chunk->size_bytes += gone->size_bytes;
    chunk->after = gone->after;
    if (gone->after)
        chunk_at(allocator, gone->after)->before = index;
    chunk_drop(allocator, next);
}

/* With the neighbours that are in the same state; the whole is in no set. */
static uint32_t merge(struct caching_allocator *allocator, uint32_t index)
{
    const struct chunk *chunk = chunk_at(allocator, index);
    uint8_t state = chunk->state;
    uint32_t before = chunk->before, after = chunk->after;

    if (after && chunk_at(allocator, after)->state == state) {
        leave(allocator, after);
        swallow_next(allocator, index);
    }
    if (!before || chunk_at(allocator, before)->state != state)
        return index;
    leave(allocator, before);
    swallow_next(allocator, before);
    return before;
}

/* --- reserved memory ------------------------------------------------------------------------ */

static void note_reserved(struct caching_allocator *allocator, uint64_t more_bytes)
{
    struct allocator_totals *totals = &allocator->totals;

    totals->reserved_bytes += more_bytes;
    if (totals->reserved_bytes <= totals->reserved_peak_bytes)
        return;
    totals->reserved_peak_bytes = totals->reserved_bytes;
    totals->taken_at_peak_bytes = 0;
}

static void note_taken(struct caching_allocator *allocator, uint64_t more_bytes)
{
    struct allocator_totals *totals = &allocator->totals;

    totals->taken_bytes += more_bytes;
    if (totals->reserved_bytes == totals->reserved_peak_bytes &&
        totals->taken_bytes > totals->taken_at_peak_bytes)
        totals->taken_at_peak_bytes = totals->taken_bytes;
}

uint64_t caching_allocator_segment(uint64_t block_bytes)
{
    return block_bytes <= SMALL_MOST   ? SMALL_SEGMENT
           : block_bytes < SHARED_MOST ? LARGE_SEGMENT
                                       : round_up(block_bytes, SEGMENT_UNIT);
}

static uint32_t make_segment(struct caching_allocator *allocator, uint32_t lane,
                             uint64_t size_bytes)
{
    uint64_t segment_bytes = lane & 1 ? SMALL_SEGMENT : caching_allocator_segment(size_bytes);
    uint32_t made = chunk_make(allocator, (struct chunk){.address = allocator->next_address,
                                                         .size_bytes = segment_bytes,
                                                         .lane = lane,
                                                         .state = CHUNK_FREE});

    allocator->next_address += segment_bytes;
    if (made)
        note_reserved(allocator, segment_bytes);
    return made;
}

/* Pages for the first bytes of a chunk that is not mapped. The answer is free, and in no set. */
static uint32_t map_pages(struct caching_allocator *allocator, uint32_t index, uint64_t size_bytes)
{
    const struct chunk *chunk = chunk_at(allocator, index);
    uint64_t mapped_bytes = round_up(size_bytes, page_of(chunk));
    uint32_t rest;

    leave(allocator, index);
    if (mapped_bytes < chunk->size_bytes) {
        rest = cut(allocator, index, mapped_bytes);
        if (!rest || !enter(allocator, rest))
            return 0;
    }
    chunk_at(allocator, index)->state = CHUNK_FREE;
    note_reserved(allocator, mapped_bytes);
    return merge(allocator, index);
}

/* How far free and unmapped chunks go on from here, counted up to what is asked for. */
static bool has_room(const struct caching_allocator *allocator, uint32_t index, uint64_t size_bytes)
{
    uint64_t room_bytes = 0;

    while (index && room_bytes < size_bytes && chunk_at(allocator, index)->state != CHUNK_TAKEN) {
        room_bytes += chunk_at(allocator, index)->size_bytes;
        index = chunk_at(allocator, index)->after;
    }
    return room_bytes >= size_bytes;
}

/* The first place of the line that can be made large enough; the line begins when there is none. */
static uint32_t find_place(struct caching_allocator *allocator, uint32_t lane, uint64_t size_bytes)
{
    struct ordered_key key = {lane, 0, 0};
    const struct ordered_node *node;
    uint32_t line;

    while ((node = ordered_set_at_least(&allocator->unmapped_chunks, key)) &&
           node->key.first == lane) {
        uint32_t before = chunk_at(allocator, node->row)->before;
        bool is_free = before && chunk_at(allocator, before)->state == CHUNK_FREE;
        uint32_t start = is_free ? before : node->row;

        if (has_room(allocator, start, size_bytes))
            return start;
        key = ordered_key_behind(node->key);
    }
    line = chunk_make(allocator, (struct chunk){.address = ++allocator->line_count * LINE_BYTES,
                                                .size_bytes = LINE_BYTES,
                                                .lane = lane,
                                                .state = CHUNK_UNMAPPED});
    return line && enter(allocator, line) ? line : 0;
}

static uint32_t grow_line(struct caching_allocator *allocator, uint32_t lane, uint64_t size_bytes)
{
    uint32_t found = find_place(allocator, lane, size_bytes);

    if (found && chunk_at(allocator, found)->state == CHUNK_FREE)
        leave(allocator, found);
    while (found) {
        const struct chunk *chunk = chunk_at(allocator, found);
        bool is_mapped = chunk->state == CHUNK_FREE;
        uint64_t has_bytes = is_mapped ? chunk->size_bytes : 0;
        uint32_t next = is_mapped ? chunk->after : found;
        uint64_t most_bytes;

        if (has_bytes >= size_bytes)
            break;
        most_bytes = chunk_at(allocator, next)->size_bytes;
        if (is_mapped && !enter(allocator, found)) /* merging takes it out again */
            return 0;
        found =
            map_pages(allocator, next,
                      size_bytes - has_bytes < most_bytes ? size_bytes - has_bytes : most_bytes);
    }
    return found;
}

/* --- requests ------------------------------------------------------------------------------- */

static uint64_t highest_power(uint64_t number)
{
    return UINT64_C(1) << (63 - __builtin_clzll(number));
}

static uint64_t rounded(const struct allocator_settings *settings, uint64_t request_bytes)
{
    uint64_t size_bytes = request_bytes + settings->pad_bytes;
    uint64_t divisions = settings->roundup_divisions;
    uint64_t part_bytes;

    if (size_bytes < UNIT)
        return UNIT;
    if (divisions <= 1 || size_bytes <= UNIT * divisions)
        return round_up(size_bytes, UNIT);
    part_bytes = highest_power(size_bytes) / highest_power(divisions);
    return round_up(size_bytes, part_bytes);
}

/* What a free chunk could become by mapping what is after it. */
static uint64_t reach_of(const struct caching_allocator *allocator, uint32_t index)
{
    const struct chunk *chunk = chunk_at(allocator, index);
    const struct chunk *after = chunk_at(allocator, chunk->after);

    return chunk->size_bytes +
           (chunk->after && after->state == CHUNK_UNMAPPED ? after->size_bytes : 0);
}

/* Of a line, the chunk that can grow the least is the best fit. */
static uint32_t least_reach(const struct caching_allocator *allocator,
                            const struct ordered_node *node)
{
    for (;;) {
        const struct ordered_node *next =
            ordered_set_at_least(&allocator->free_chunks, ordered_key_behind(node->key));

        if (!next || next->key.first != node->key.first ||
            reach_of(allocator, next->row) >= reach_of(allocator, node->row))
            return node->row;
        node = next;
    }
}

/* The best fit; 0: none. */
static uint32_t find_free(const struct caching_allocator *allocator, uint32_t lane,
                          uint64_t size_bytes)
{
    const struct ordered_node *node =
        ordered_set_at_least(&allocator->free_chunks, (struct ordered_key){lane, size_bytes, 0});
    uint64_t limit_bytes = allocator->settings.max_split_bytes;
    uint64_t found_bytes;
    uint32_t found;

    if (!node || node->key.first != lane)
        return 0;
    found = allocator->settings.is_expandable ? least_reach(allocator, node) : node->row;
    found_bytes = chunk_at(allocator, found)->size_bytes;
    if (size_bytes < limit_bytes && found_bytes >= limit_bytes)
        return 0;
    if (size_bytes >= limit_bytes && found_bytes >= size_bytes + UNSPLIT_WASTE)
        return 0;
    return found;
}

static bool is_worth_splitting(const struct caching_allocator *allocator, const struct chunk *chunk,
                               uint64_t size_bytes)
{
    uint64_t rest_bytes = chunk->size_bytes - size_bytes;

    if (is_small(chunk) || allocator->settings.is_expandable)
        return rest_bytes >= UNIT;
    return size_bytes < allocator->settings.max_split_bytes && rest_bytes > SMALL_MOST;
}

uint32_t caching_allocator_take(struct caching_allocator *allocator, uint32_t stream,
                                uint64_t request_bytes)
{
    uint64_t size_bytes =
        rounded(&allocator->settings, request_bytes < REQUEST_MOST ? request_bytes : REQUEST_MOST);
    uint32_t lane = lane_of(stream, size_bytes <= SMALL_MOST);
    uint32_t found = find_free(allocator, lane, size_bytes);

    if (found)
        leave(allocator, found);
    else if (allocator->settings.is_expandable)
        found = grow_line(allocator, lane, size_bytes);
    else
        found = make_segment(allocator, lane, size_bytes);
    if (!found)
        return 0;
    if (is_worth_splitting(allocator, chunk_at(allocator, found), size_bytes)) {
        uint32_t rest = cut(allocator, found, size_bytes);

        if (!rest || !enter(allocator, rest))
            return 0;
    }
    chunk_at(allocator, found)->state = CHUNK_TAKEN;
    note_taken(allocator, chunk_at(allocator, found)->size_bytes);
    return found;
}

bool caching_allocator_give(struct caching_allocator *allocator, uint32_t block)
{
    MT_ASSERT(chunk_at(allocator, block)->state == CHUNK_TAKEN);
    MT_ASSERT(chunk_at(allocator, block)->size_bytes <= allocator->totals.taken_bytes);
    allocator->totals.taken_bytes -= chunk_at(allocator, block)->size_bytes;
    chunk_at(allocator, block)->state = CHUNK_FREE;
    if (!enter(allocator, merge(allocator, block)))
        return false;
    if (MT_ASSERTS && allocator->chunk_count <= checked_most)
        caching_allocator_check(allocator);
    return true;
}

/* --- giving back ---------------------------------------------------------------------------- */

/* Whole pages of a free chunk. */
static bool unmap(struct caching_allocator *allocator, uint32_t index)
{
    struct chunk chunk = *chunk_at(allocator, index);
    uint64_t page = page_of(&chunk);
    uint64_t from = round_up(chunk.address, page);
    uint64_t to = (chunk.address + chunk.size_bytes) / page * page;
    uint32_t middle = index, rest = 0;

    if (from >= to)
        return true;
    leave(allocator, index);
    if (from > chunk.address) {
        middle = cut(allocator, index, from - chunk.address);
        if (!middle || !enter(allocator, index))
            return false;
    }
    if (to < chunk.address + chunk.size_bytes) {
        rest = cut(allocator, middle, to - from);
        if (!rest || !enter(allocator, rest))
            return false;
    }
    chunk_at(allocator, middle)->state = CHUNK_UNMAPPED;
    allocator->totals.reserved_bytes -= to - from;
    return enter(allocator, merge(allocator, middle));
}

static void drop_segment(struct caching_allocator *allocator, uint32_t index)
{
    const struct chunk *chunk = chunk_at(allocator, index);

    if (chunk->before || chunk->after)
        return;
    allocator->totals.reserved_bytes -= chunk->size_bytes;
    leave(allocator, index);
    chunk_drop(allocator, index);
}

bool caching_allocator_empty(struct caching_allocator *allocator)
{
    /* What unmapping makes is never free and new: no chunk is missed, none comes twice. */
    for (uint32_t i = 1; i <= allocator->chunk_count; i++) {
        if (chunk_at(allocator, i)->state != CHUNK_FREE)
            continue;
        if (!allocator->settings.is_expandable)
            drop_segment(allocator, i);
        else if (!unmap(allocator, i))
            return false;
    }
    return true;
}

/* --- assertions ----------------------------------------------------------------------------- */

static void links_check(const struct caching_allocator *allocator, uint32_t index)
{
    const struct chunk *chunk = chunk_at(allocator, index);
    const struct chunk *after = chunk_at(allocator, chunk->after);

    MT_ASSERT(chunk->size_bytes);
    MT_ASSERT(!chunk->before || chunk_at(allocator, chunk->before)->after == index);
    if (!chunk->after)
        return;
    MT_ASSERT(after->before == index);
    MT_ASSERT(after->lane == chunk->lane);
    MT_ASSERT(after->address == chunk->address + chunk->size_bytes);
    MT_ASSERT(after->state != chunk->state || chunk->state == CHUNK_TAKEN);
}

void caching_allocator_check(const struct caching_allocator *allocator)
{
    size_t counts[CHUNK_UNMAPPED + 1] = {0};
    uint64_t bytes[CHUNK_UNMAPPED + 1] = {0};
    const struct allocator_totals *totals = &allocator->totals;

    for (uint32_t i = 1; i <= allocator->chunk_count; i++) {
        const struct chunk *chunk = chunk_at(allocator, i);

        MT_ASSERT(chunk->state <= CHUNK_UNMAPPED);
        counts[chunk->state]++;
        bytes[chunk->state] += chunk->size_bytes;
        if (chunk->state != CHUNK_UNUSED)
            links_check(allocator, i);
    }
    MT_ASSERT(counts[CHUNK_FREE] == allocator->free_chunks.count);
    MT_ASSERT(counts[CHUNK_UNMAPPED] == allocator->unmapped_chunks.count);
    MT_ASSERT(bytes[CHUNK_TAKEN] == totals->taken_bytes);
    MT_ASSERT(bytes[CHUNK_TAKEN] + bytes[CHUNK_FREE] == totals->reserved_bytes);
    MT_ASSERT(totals->reserved_bytes <= totals->reserved_peak_bytes);
}

/* --- the whole ------------------------------------------------------------------------------ */

enum mt_result caching_allocator_create(const struct allocator_settings *settings,
                                        struct caching_allocator **out, struct mt_error *error)
{
    struct caching_allocator *allocator = calloc(1, sizeof(*allocator));

    if (!allocator)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the model of an allocator");
    allocator->settings = *settings;
    allocator->next_address = LARGE_SEGMENT;
    ordered_set_init(&allocator->free_chunks);
    ordered_set_init(&allocator->unmapped_chunks);
    *out = allocator;
    return MT_OK;
}

void caching_allocator_destroy(struct caching_allocator *allocator)
{
    if (!allocator)
        return;
    ordered_set_release(&allocator->free_chunks);
    ordered_set_release(&allocator->unmapped_chunks);
    free(allocator->chunks);
    free(allocator);
}

struct allocator_totals caching_allocator_totals(const struct caching_allocator *allocator)
{
    return allocator->totals;
}
