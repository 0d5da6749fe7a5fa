/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the blocks of a pool lay in its segments, for a picture.
 */
#include "segment_map.h"

#include "sheet.h"

/* A page with more could not be looked at. */
enum { segments_most = 2000, blocks_most = 40000 };

static void add_blocks(struct sheet *sheet, const struct fragment_moment *moment,
                       const struct segment *segment)
{
    for (size_t i = 0; i < segment->block_count; i++) {
        const struct fragment_block *block = &moment->blocks[segment->first_block + i];

        sheet_add(sheet, (const uint64_t[]){block->address - segment->from, block->size_bytes,
                                            block->group, block->is_waiting});
    }
}

static void add_ledger(struct sheet *segments, struct sheet *blocks,
                       const struct fragment_ledger *ledger)
{
    const struct fragment_moment *moment = &ledger->moments[MOMENT_WORST];

    for (size_t i = 0; moment->is_known && i < moment->segment_count; i++) {
        const struct segment *segment = &moment->segments[i];
        bool is_shown = segments->row_count < segments_most &&
                        blocks->row_count + segment->block_count <= blocks_most;

        if (!is_shown)
            return;
        sheet_add(segments, (const uint64_t[]){ledger->ledger, moment->time_ns,
                                               moment->segment_count, segment->from,
                                               segment->to - segment->from, segment->block_count,
                                               segment->live_bytes, segment->hole_bytes});
        add_blocks(blocks, moment, segment);
    }
}

void segment_map_to_report(const struct fragments *fragments, struct report *report)
{
    static const char *const segment_keys[] = {"ledger",     "time_ns",    "segment_count",
                                               "address",    "size_bytes", "block_count",
                                               "live_bytes", "hole_bytes", NULL};
    static const char *const block_keys[] = {"offset_bytes", "size_bytes", "group", "is_waiting",
                                             NULL};
    struct sheet segments = sheet_of(segment_keys), blocks = sheet_of(block_keys);

    for (size_t i = 0; i < fragments->count; i++)
        add_ledger(&segments, &blocks, &fragments->ledgers[i]);
    sheet_to_report(&segments, report, "segments");
    sheet_to_report(&blocks, report, "segment_blocks");
}
