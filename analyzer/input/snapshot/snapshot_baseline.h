/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device held before the history of a snapshot begins: blocks, segments, bytes reserved.
 *
 * The segments are known at the end and are counted back from there through the history. A block
 * that is alive in them, or freed in the history, and was never allocated there is older.
 */
#ifndef LEAKTIDE_INPUT_SNAPSHOT_BASELINE_H
#define LEAKTIDE_INPUT_SNAPSHOT_BASELINE_H

#include "range_set.h"
#include "snapshot_tables.h"

/* A block that is older than the history. */
struct old_block {
    uint64_t address, size_bytes, stream;
    uint32_t site;
    bool is_waiting; /* freed before the history, and a stream still uses it */
};

struct snapshot_baseline {
    struct table old_blocks;
    struct range_set segments;
    uint64_t reserved_bytes;
    bool is_expandable;
};

/* Entries [first, end) of the tables. */
struct snapshot_history {
    int32_t device;
    uint32_t first, end;
};

/* Of all devices: what notes are made of. */
struct baseline_counts {
    uint64_t old_count, old_bytes;
    uint64_t pending_count, pending_bytes; /* at the end, that wait for a stream */
    uint64_t unmatched_count;              /* what the history and the segments tell differently */
};

/* The arena must outlive it. */
void snapshot_baseline_init(struct snapshot_baseline *baseline, struct arena *arena);
void snapshot_baseline_release(struct snapshot_baseline *baseline);

/* Once; adds to the counts. False when there is no memory. */
bool snapshot_baseline_find(struct snapshot_baseline *baseline,
                            const struct snapshot_tables *tables,
                            const struct snapshot_history *history, struct baseline_counts *counts);

/* By which an entry changes what is reserved. */
int64_t snapshot_reserved_change(const struct snapshot_entry *entry);
/* Cut at the end of the addresses. */
struct range snapshot_range_of(uint64_t address, uint64_t size_bytes);

#endif
