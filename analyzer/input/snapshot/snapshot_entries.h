/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a snapshot, in the order in which they were read: about ten bytes each.
 *
 * They are packed in blocks; blocks stay in memory while they are few, else they go to a scratch
 * file. What is read in order, forward or back, at a few places in turns, is unpacked once.
 */
#ifndef LEAKTIDE_INPUT_SNAPSHOT_ENTRIES_H
#define LEAKTIDE_INPUT_SNAPSHOT_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snapshot_entry {
    uint64_t address; /* of an oom: bytes that the device has free */
    uint64_t size_bytes;
    uint64_t time_us;
    uint64_t stream;
    uint32_t site;
    uint8_t action; /* enum word */
    bool has_time;
};

struct snapshot_entries;

/* memory_bytes: how many bytes of packed blocks stay in memory; NULL when there is no memory. */
struct snapshot_entries *snapshot_entries_create(size_t memory_bytes);
void snapshot_entries_destroy(struct snapshot_entries *entries);

/* False when there is no memory. */
bool snapshot_entries_add(struct snapshot_entries *entries, const struct snapshot_entry *entry);
size_t snapshot_entries_count(const struct snapshot_entries *entries);

/*
 * index < count. Borrowed until some dozen others, far from it, were asked for. All 0 when the
 * scratch file cannot be read any more: snapshot_entries_are_lost() tells.
 */
const struct snapshot_entry *snapshot_entries_at(struct snapshot_entries *entries, size_t index);
bool snapshot_entries_are_lost(const struct snapshot_entries *entries);

#endif
