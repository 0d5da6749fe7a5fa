/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are there without being used.
 */
#include "idle_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "block_uses.h"
#include "list.h"

/* A block that was used, for the search of those that could have shared its place. */
struct reuse {
    uint64_t size_bytes, address;
    uint64_t born_ns, first_ns, last_ns, freed_ns;
    uint32_t origin;
    uint16_t ledger;
};

struct reading {
    const struct question *question;
    struct idle_blocks *idle;
    uint32_t *origin_of_group;
    bool *has_uses; /* by ledger: some block of it was used */
    struct reuse *reuses;
    size_t reuse_count, reuse_capacity;
    bool has_failed, has_too_many;
};

/* A stretch of a block's life in which nobody uses it. */
struct stretch_of_waste {
    uint64_t from_ns, to_ns;
};

static void put(struct reading *reading, uint32_t origin, enum waste_kind kind,
                const struct reuse *block, struct stretch_of_waste stretch)
{
    struct waste *waste = &reading->idle->wastes[origin * WASTE_KINDS + (size_t)kind];
    uint64_t length_ns = stretch.to_ns - stretch.from_ns;
    unsigned __int128 wasted = (unsigned __int128)block->size_bytes * length_ns;
    const struct ledger *ledger = tally_ledger_at(reading->question->tally, block->ledger);

    waste->count++;
    waste->size_bytes += block->size_bytes;
    waste->byte_ns += wasted;
    if (length_ns > waste->longest_ns)
        waste->longest_ns = length_ns;
    if (stretch.from_ns <= ledger->peak_time_ns && ledger->peak_time_ns < stretch.to_ns)
        waste->peak_bytes += block->size_bytes;
    if (waste->count > 1 && wasted <= waste->worst_byte_ns)
        return;
    waste->worst_byte_ns = wasted;
    waste->worst_address = block->address;
    waste->worst_size_bytes = block->size_bytes;
    waste->worst_from_ns = stretch.from_ns;
    waste->worst_to_ns = stretch.to_ns;
}

static void keep_for_reuse(struct reading *reading, const struct reuse *block)
{
    if (reading->reuse_count == REUSE_BLOCKS_MOST) {
        reading->has_too_many = true;
        return;
    }
    if (!list_has_room(&reading->reuses, &reading->reuse_capacity, reading->reuse_count,
                       sizeof(*reading->reuses))) {
        reading->has_failed = true;
        return;
    }
    reading->reuses[reading->reuse_count++] = *block;
}

static bool on_over(void *context, const struct life *life, const struct block_use *use)
{
    struct reading *reading = context;
    struct reuse block = {
        .size_bytes = life->size_bytes,
        .address = life->address,
        .born_ns = life->born_ns,
        .first_ns = use->first.time_ns,
        .last_ns = use->last.time_ns,
        .freed_ns = use->freed.time_ns,
        .origin = reading->origin_of_group[life->group],
        .ledger = life->ledger,
    };

    if (!use->count) {
        if (use->freed.position > use->born.position)
            put(reading, block.origin, WASTE_UNUSED, &block,
                (struct stretch_of_waste){block.born_ns, block.freed_ns});
        return true;
    }
    reading->has_uses[life->ledger] = true;
    if (use->first.position > use->born.position)
        put(reading, block.origin, WASTE_EARLY, &block,
            (struct stretch_of_waste){block.born_ns, block.first_ns});
    if (use->freed.position > use->last.position)
        put(reading, block.origin, WASTE_LATE, &block,
            (struct stretch_of_waste){block.last_ns, block.freed_ns});
    if (use->idle_to.position - use->idle_from.position >= IDLE_POSITIONS_LEAST)
        put(reading, block.origin, WASTE_IDLE, &block,
            (struct stretch_of_waste){use->idle_from.time_ns, use->idle_to.time_ns});
    keep_for_reuse(reading, &block);
    return !reading->has_failed;
}

/* --- which could have shared a place -------------------------------------------------------- */

static int by_first_use(const void *left, const void *right)
{
    const struct reuse *a = left, *b = right;

    if (a->ledger != b->ledger)
        return a->ledger > b->ledger ? 1 : -1;
    if (a->size_bytes != b->size_bytes)
        return a->size_bytes > b->size_bytes ? 1 : -1;
    if (a->first_ns != b->first_ns)
        return a->first_ns > b->first_ns ? 1 : -1;
    return (a->address > b->address) - (a->address < b->address);
}

/* A heap of rows, the one that is used no longer first on top. */
static void heap_push(uint32_t *heap, size_t count, uint32_t row, const struct reuse *rows)
{
    size_t at = count;

    while (at && rows[row].last_ns < rows[heap[(at - 1) / 2]].last_ns) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = row;
}

static void heap_pop(uint32_t *heap, size_t count, const struct reuse *rows)
{
    uint32_t moved = heap[count - 1];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 >= count)
            break;
        if (child + 2 < count && rows[heap[child + 1]].last_ns < rows[heap[child]].last_ns)
            child++;
        if (rows[heap[child]].last_ns >= rows[moved].last_ns)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* One size of one ledger: each block takes the place of the one that was done with longest ago. */
static void match_places(struct reading *reading, const struct reuse *rows, size_t count,
                         uint32_t *heap)
{
    size_t waiting = 0;

    for (uint32_t i = 0; i < count; i++) {
        while (waiting && rows[heap[0]].last_ns < rows[i].first_ns) {
            const struct reuse *other = &rows[heap[0]];
            uint64_t from_ns = later(rows[i].born_ns, other->born_ns);
            uint64_t to_ns =
                rows[i].freed_ns < other->freed_ns ? rows[i].freed_ns : other->freed_ns;

            heap_pop(heap, waiting--, rows);
            if (from_ns >= to_ns)
                continue; /* it was freed before: nothing was wasted */
            put(reading, rows[i].origin, WASTE_REDUNDANT, &rows[i],
                (struct stretch_of_waste){from_ns, to_ns});
            break;
        }
        heap_push(heap, waiting++, i, rows);
    }
}

static bool find_redundant(struct reading *reading)
{
    struct reuse *rows = reading->reuses;
    uint32_t *heap = malloc((reading->reuse_count + 1) * sizeof(*heap));

    if (!heap)
        return false;
    if (reading->reuse_count)
        qsort(rows, reading->reuse_count, sizeof(*rows), by_first_use);
    for (size_t first = 0, end; first < reading->reuse_count; first = end) {
        for (end = first + 1; end < reading->reuse_count &&
                              rows[end].ledger == rows[first].ledger &&
                              rows[end].size_bytes == rows[first].size_bytes;)
            end++;
        match_places(reading, rows + first, end - first, heap);
    }
    free(heap);
    return true;
}

/* --- the whole ------------------------------------------------------------------------------ */

/* Where no block of a ledger is ever used, its accesses are not recorded at all. */
static void drop_unknown(struct reading *reading)
{
    struct idle_blocks *idle = reading->idle;

    for (size_t i = 0; i < idle->origins.count; i++)
        if (!reading->has_uses[idle->origins.rows[i].ledger])
            memset(&idle->wastes[i * WASTE_KINDS], 0, WASTE_KINDS * sizeof(*idle->wastes));
}

static bool make_room(struct reading *reading)
{
    const struct tally *tally = reading->question->tally;
    struct idle_blocks *idle = reading->idle;

    if (!origins_init(&idle->origins, reading->question, ORIGINS_BY_OPERATOR))
        return false;
    idle->wastes = calloc(idle->origins.count * WASTE_KINDS + 1, sizeof(*idle->wastes));
    reading->origin_of_group = calloc(tally_group_count(tally) + 1, sizeof(uint32_t));
    reading->has_uses = calloc(tally_ledger_count(tally) + 1, sizeof(bool));
    if (!idle->wastes || !reading->origin_of_group || !reading->has_uses)
        return false;
    for (uint32_t i = 0; i < idle->origins.count; i++)
        for (size_t k = 0; k < idle->origins.rows[i].group_count; k++)
            reading->origin_of_group[idle->origins.rows[i].groups[k]] = i;
    return true;
}

enum mt_result idle_blocks_read(const struct question *question, struct idle_blocks *idle,
                                struct mt_error *error)
{
    struct reading reading = {.question = question, .idle = idle};
    struct use_visitor visitor = {&reading, on_over};
    enum mt_result result = MT_OK;

    memset(idle, 0, sizeof(*idle));
    if (!make_room(&reading))
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to list sites");
    else
        result = uses_read(question, &visitor, &idle->missed_count, error);
    idle->has_reuse = !reading.has_too_many;
    if (result == MT_OK && (reading.has_failed || (idle->has_reuse && !find_redundant(&reading))))
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for the uses of blocks");
    if (result == MT_OK)
        drop_unknown(&reading);
    free(reading.origin_of_group);
    free(reading.has_uses);
    free(reading.reuses);
    return result;
}

void idle_blocks_release(struct idle_blocks *idle)
{
    free(idle->wastes);
    origins_release(&idle->origins);
}
