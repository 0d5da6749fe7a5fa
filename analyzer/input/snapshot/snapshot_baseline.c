/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device held before the history of a snapshot begins.
 */
#include "snapshot_baseline.h"

#include <inttypes.h>
#include <string.h>

#include "keyed_table.h"

/* An address of the history, and whether a block is there. */
struct known {
    uint64_t address;
    bool is_alive;
};

struct scan {
    struct snapshot_baseline *baseline;
    const struct snapshot_tables *tables;
    const struct snapshot_history *history;
    struct baseline_counts *counts;
    struct keyed_table knowns; /* by address */
    bool has_waiting;          /* among the old blocks */
};

int64_t snapshot_reserved_change(const struct snapshot_entry *entry)
{
    switch (entry->action) {
    case WORD_SEGMENT_ALLOC:
    case WORD_SEGMENT_MAP:
        return (int64_t)entry->size_bytes;
    case WORD_SEGMENT_FREE:
    case WORD_SEGMENT_UNMAP:
        return -(int64_t)entry->size_bytes;
    default:
        return 0;
    }
}

struct range snapshot_range_of(uint64_t address, uint64_t size_bytes)
{
    return (struct range){address,
                          size_bytes > UINT64_MAX - address ? UINT64_MAX : address + size_bytes};
}

static bool add_old(struct scan *scan, struct old_block block)
{
    struct old_block *row = table_add(&scan->baseline->old_blocks);

    if (!row)
        return false;
    *row = block;
    scan->counts->old_count++;
    scan->counts->old_bytes += block.size_bytes;
    return true;
}

static bool known_add(struct scan *scan, uint64_t address, bool is_alive)
{
    struct known *known = keyed_table_add(&scan->knowns, address);

    if (known)
        known->is_alive = is_alive;
    return known != NULL;
}

/* Frees of what the history never allocated. */
static bool scan_history(struct scan *scan)
{
    for (uint32_t i = scan->history->first; i < scan->history->end; i++) {
        const struct snapshot_entry *entry = snapshot_entries_at(scan->tables->entries, i);
        bool is_alloc = entry->action == WORD_ALLOC;
        struct known *known;

        if (!is_alloc && entry->action != WORD_FREE_COMPLETED)
            continue;
        known = keyed_table_find(&scan->knowns, entry->address);
        if (known) {
            scan->counts->unmatched_count += known->is_alive == is_alloc;
            known->is_alive = is_alloc;
            continue;
        }
        if (!known_add(scan, entry->address, is_alloc))
            return false;
        if (!is_alloc && !add_old(scan, (struct old_block){entry->address, entry->size_bytes,
                                                           entry->stream, 0, false}))
            return false;
    }
    return true;
}

/* Blocks that are alive at the end, and that the history never allocated. */
static bool scan_segment(struct scan *scan, const struct snapshot_segment *segment)
{
    uint64_t address = segment->address;

    for (uint32_t i = 0; i < segment->block_count; i++) {
        const struct snapshot_block *block =
            table_at(&scan->tables->blocks, segment->first_block + i);
        const struct known *known;
        bool is_waiting;

        if (block->address != UINT64_MAX)
            address = block->address;
        known = snapshot_block_is_active(block) ? keyed_table_find(&scan->knowns, address) : NULL;
        is_waiting = snapshot_block_is_active(block) && block->state != WORD_ACTIVE_ALLOCATED;
        if (is_waiting) {
            scan->counts->pending_count++;
            scan->counts->pending_bytes += block->requested_bytes;
        }
        if (known)
            scan->counts->unmatched_count += !known->is_alive;
        else if (snapshot_block_is_active(block) &&
                 !add_old(scan, (struct old_block){address, block->requested_bytes, segment->stream,
                                                   block->site, is_waiting}))
            return false;
        scan->has_waiting |= is_waiting;
        address += block->size_bytes;
    }
    return true;
}

struct requested {
    uint64_t address;
    bool is_by_history;
};

/* What waits since an event of the history does not wait from the beginning. */
static bool find_requests(struct scan *scan)
{
    struct table *old = &scan->baseline->old_blocks;
    struct keyed_table requests;
    struct requested *row;
    struct arena arena;
    bool is_good = true;

    arena_init(&arena);
    keyed_table_init(&requests, &arena, sizeof(*row));
    for (size_t i = 0; is_good && i < old->count; i++) {
        const struct old_block *block = table_at(old, i);

        if (block->is_waiting && !keyed_table_find(&requests, block->address))
            is_good = keyed_table_add(&requests, block->address) != NULL;
    }
    for (uint32_t i = scan->history->first; is_good && i < scan->history->end; i++) {
        const struct snapshot_entry *entry = snapshot_entries_at(scan->tables->entries, i);

        row = entry->action == WORD_FREE_REQUESTED ? keyed_table_find(&requests, entry->address)
                                                   : NULL;
        if (row)
            row->is_by_history = true;
    }
    for (size_t i = 0; is_good && i < old->count; i++) {
        struct old_block *block = table_at(old, i);

        row = block->is_waiting ? keyed_table_find(&requests, block->address) : NULL;
        block->is_waiting = row && !row->is_by_history;
    }
    keyed_table_release(&requests);
    arena_release(&arena);
    return is_good;
}

static bool scan_segments(struct scan *scan)
{
    const struct snapshot_tables *tables = scan->tables;
    bool is_good = true;

    for (uint32_t i = 0; i < tables->segments_found.count && is_good; i++) {
        const struct snapshot_segment *segment =
            table_at(&tables->segments, tables->segments_found.first + i);

        if (segment->device != scan->history->device)
            continue;
        scan->baseline->reserved_bytes += segment->total_bytes;
        scan->baseline->is_expandable |= segment->is_expandable;
        is_good = range_set_add(&scan->baseline->segments,
                                snapshot_range_of(segment->address, segment->total_bytes)) &&
                  scan_segment(scan, segment);
    }
    return is_good;
}

/* The segments at the end become those of the beginning. */
static bool undo_segments(struct scan *scan)
{
    bool is_good = true;

    for (uint32_t i = scan->history->end; i-- > scan->history->first && is_good;) {
        const struct snapshot_entry *entry = snapshot_entries_at(scan->tables->entries, i);
        struct range range = snapshot_range_of(entry->address, entry->size_bytes);

        if (snapshot_reserved_change(entry) > 0)
            is_good = range_set_remove(&scan->baseline->segments, range);
        else if (snapshot_reserved_change(entry) < 0)
            is_good = range_set_add(&scan->baseline->segments, range);
    }
    return is_good;
}

/* From the segments at the end back to the beginning, and never below zero on the way. */
static void count_back(struct scan *scan)
{
    int64_t reserved = (int64_t)scan->baseline->reserved_bytes;
    int64_t lowest = reserved < 0 ? reserved : 0;

    for (uint32_t i = scan->history->end; i-- > scan->history->first;) {
        uint64_t before = (uint64_t)reserved - (uint64_t)snapshot_reserved_change(
                                                   snapshot_entries_at(scan->tables->entries, i));

        reserved = (int64_t)before;
        if (reserved < lowest)
            lowest = reserved;
    }
    scan->baseline->reserved_bytes = (uint64_t)reserved - (uint64_t)lowest;
    if (lowest < 0)
        model_note(scan->tables->model, 0,
                   "device %" PRId32 ": segments and history disagree; its reserved memory is too "
                   "high by %" PRIu64 " B",
                   scan->history->device, 0 - (uint64_t)lowest);
}

bool snapshot_baseline_find(struct snapshot_baseline *baseline,
                            const struct snapshot_tables *tables,
                            const struct snapshot_history *history, struct baseline_counts *counts)
{
    struct scan scan = {
        .baseline = baseline, .tables = tables, .history = history, .counts = counts};
    struct arena arena;
    bool is_good;

    arena_init(&arena);
    keyed_table_init(&scan.knowns, &arena, sizeof(struct known));
    is_good =
        scan_history(&scan) && scan_segments(&scan) && (!scan.has_waiting || find_requests(&scan));
    keyed_table_release(&scan.knowns);
    arena_release(&arena);
    if (!is_good || !undo_segments(&scan))
        return false;
    count_back(&scan);
    return true;
}

void snapshot_baseline_init(struct snapshot_baseline *baseline, struct arena *arena)
{
    memset(baseline, 0, sizeof(*baseline));
    range_set_init(&baseline->segments);
    table_init(&baseline->old_blocks, arena, sizeof(struct old_block));
}

void snapshot_baseline_release(struct snapshot_baseline *baseline)
{
    range_set_release(&baseline->segments);
}
