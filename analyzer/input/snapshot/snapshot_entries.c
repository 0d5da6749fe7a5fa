/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packed entry:
 *
 *   1 byte   action
 *   1 byte   what differs from the entry before of this block: enum difference
 *   varints  zigzag differences of address and time; size; what differs
 *
 * A block of BLOCK_ENTRIES begins anew, so each can be unpacked alone.
 */
#include "snapshot_entries.h"

#include <stdlib.h>
#include <string.h>

#include "leaktide/codec.h"
#include "list.h"
#include "scratch_file.h"

enum { BLOCK_ENTRIES = 256, entry_most_bytes = 64, window_count = 64 };

enum difference { HAS_TIME = 1, HAS_OTHER_STREAM = 2, HAS_OTHER_SITE = 4 };

/* A packed block: in memory, or where bytes is NULL, in the scratch file. */
struct block {
    uint8_t *bytes;
    uint64_t offset_bytes;
    uint32_t size_bytes;
};

/* A block that is unpacked. */
struct window {
    size_t block;
    uint64_t used; /* the call that needed it last; 0: it is empty */
    struct snapshot_entry entries[BLOCK_ENTRIES];
};

struct snapshot_entries {
    size_t count, memory_bytes, memory_most_bytes;
    struct block *blocks;
    size_t block_count, block_capacity;
    struct snapshot_entry last[BLOCK_ENTRIES]; /* after the last block */
    struct scratch_file file;
    bool has_file, is_lost;
    struct window *windows[window_count], *newest;
    uint64_t calls;
};

struct snapshot_entries *snapshot_entries_create(size_t memory_bytes)
{
    struct snapshot_entries *entries = calloc(1, sizeof(*entries));

    if (!entries)
        return NULL;
    entries->memory_most_bytes = memory_bytes;
    entries->file.descriptor = -1;
    return entries;
}

void snapshot_entries_destroy(struct snapshot_entries *entries)
{
    if (!entries)
        return;
    for (size_t i = 0; i < entries->block_count; i++)
        free(entries->blocks[i].bytes);
    for (size_t i = 0; i < window_count; i++)
        free(entries->windows[i]);
    scratch_file_close(&entries->file);
    free(entries->blocks);
    free(entries);
}

size_t snapshot_entries_count(const struct snapshot_entries *entries)
{
    return entries->count;
}

bool snapshot_entries_are_lost(const struct snapshot_entries *entries)
{
    return entries->is_lost;
}

/* --- packing ------------------------------------------------------------------------------- */

static uint8_t *put(uint8_t *out, const struct snapshot_entry *entry,
                    const struct snapshot_entry *before)
{
    unsigned differences = (entry->has_time ? HAS_TIME : 0u) |
                           (entry->stream != before->stream ? HAS_OTHER_STREAM : 0u) |
                           (entry->site != before->site ? HAS_OTHER_SITE : 0u);

    *out++ = entry->action;
    *out++ = (uint8_t)differences;
    out = mt_varint_put(out, mt_zigzag(entry->address - before->address));
    out = mt_varint_put(out, mt_zigzag(entry->time_us - before->time_us));
    out = mt_varint_put(out, entry->size_bytes);
    if (differences & HAS_OTHER_STREAM)
        out = mt_varint_put(out, entry->stream);
    if (differences & HAS_OTHER_SITE)
        out = mt_varint_put(out, entry->site);
    return out;
}

static const uint8_t *get(const uint8_t *in, const uint8_t *end, struct snapshot_entry *entry,
                          const struct snapshot_entry *before)
{
    uint64_t address = 0, time = 0, site = before->site;
    unsigned differences;

    entry->action = *in++;
    differences = *in++;
    entry->has_time = (differences & HAS_TIME) != 0;
    entry->stream = before->stream;
    in = mt_varint_get(in, end, &address);
    in = mt_varint_get(in, end, &time);
    in = mt_varint_get(in, end, &entry->size_bytes);
    if (differences & HAS_OTHER_STREAM)
        in = mt_varint_get(in, end, &entry->stream);
    if (differences & HAS_OTHER_SITE)
        in = mt_varint_get(in, end, &site);
    entry->address = before->address + mt_unzigzag(address);
    entry->time_us = before->time_us + mt_unzigzag(time);
    entry->site = (uint32_t)site;
    return in;
}

static const struct snapshot_entry nothing;

static bool block_add(struct snapshot_entries *entries, struct block block)
{
    if (!list_has_room(&entries->blocks, &entries->block_capacity, entries->block_count,
                       sizeof(*entries->blocks)))
        return false;
    entries->blocks[entries->block_count++] = block;
    return true;
}

/* To the file when there is much, unless the disk does not take it; else in memory. */
static bool store(struct snapshot_entries *entries, const uint8_t *bytes, size_t size_bytes)
{
    struct block block = {.size_bytes = (uint32_t)size_bytes};
    bool is_much = entries->memory_bytes + size_bytes > entries->memory_most_bytes;

    if (is_much && !entries->has_file)
        entries->has_file = scratch_file_open(&entries->file);
    block.offset_bytes = entries->file.size_bytes;
    if (!is_much || !entries->has_file || !scratch_file_append(&entries->file, bytes, size_bytes)) {
        block.bytes = malloc(size_bytes);
        if (!block.bytes)
            return false;
        memcpy(block.bytes, bytes, size_bytes);
        entries->memory_bytes += size_bytes;
    }
    if (block_add(entries, block))
        return true;
    free(block.bytes);
    return false;
}

static bool pack(struct snapshot_entries *entries)
{
    uint8_t bytes[BLOCK_ENTRIES * entry_most_bytes], *out = bytes;
    const struct snapshot_entry *before = &nothing;

    for (size_t i = 0; i < BLOCK_ENTRIES; before = &entries->last[i++])
        out = put(out, &entries->last[i], before);
    return store(entries, bytes, (size_t)(out - bytes));
}

bool snapshot_entries_add(struct snapshot_entries *entries, const struct snapshot_entry *entry)
{
    size_t slot = entries->count % BLOCK_ENTRIES;

    if (!slot && entries->count && !pack(entries))
        return false;
    entries->last[slot] = *entry;
    entries->count++;
    return true;
}

/* --- unpacking ----------------------------------------------------------------------------- */

static void unpack(struct snapshot_entries *entries, struct window *window)
{
    const struct block *block = &entries->blocks[window->block];
    uint8_t read[BLOCK_ENTRIES * entry_most_bytes];
    const uint8_t *in = block->bytes ? block->bytes : read, *end = in + block->size_bytes;
    const struct snapshot_entry *before = &nothing;

    if (!block->bytes &&
        !scratch_file_read(&entries->file, block->offset_bytes, read, block->size_bytes)) {
        entries->is_lost = true;
        memset(window->entries, 0, sizeof(window->entries));
        return;
    }
    for (size_t i = 0; i < BLOCK_ENTRIES; before = &window->entries[i++])
        in = get(in, end, &window->entries[i], before);
}

/* The window that was used the longest ago, or a new one. */
static struct window *window_take(struct snapshot_entries *entries)
{
    size_t oldest = 0;

    for (size_t i = 0; i < window_count; i++) {
        if (!entries->windows[i]) {
            entries->windows[i] = calloc(1, sizeof(struct window));
            if (entries->windows[i])
                return entries->windows[i];
            break;
        }
        if (entries->windows[i]->used < entries->windows[oldest]->used)
            oldest = i;
    }
    return entries->windows[oldest];
}

static struct window *window_of(struct snapshot_entries *entries, size_t block)
{
    struct window *window;

    for (size_t i = 0; i < window_count && entries->windows[i]; i++)
        if (entries->windows[i]->used && entries->windows[i]->block == block)
            return entries->windows[i];
    window = window_take(entries);
    if (!window)
        return NULL;
    window->block = block;
    unpack(entries, window);
    return window;
}

const struct snapshot_entry *snapshot_entries_at(struct snapshot_entries *entries, size_t index)
{
    size_t block = index / BLOCK_ENTRIES;
    struct window *window = entries->newest;

    if (block >= entries->block_count)
        return &entries->last[index % BLOCK_ENTRIES];
    if (!window || window->block != block)
        window = window_of(entries, block);
    if (!window) {
        entries->is_lost = true;
        return &nothing;
    }
    window->used = ++entries->calls;
    entries->newest = window;
    return &window->entries[index % BLOCK_ENTRIES];
}
