/* SPDX-License-Identifier: Apache-2.0 */
/* Implements fake_memory.h. Invariant: blocks are sorted by address and do not overlap. */
#include "fake_memory.h"

#include <stdlib.h>
#include <string.h>

/* Index of the first block after the address. */
static size_t index_behind(const struct fake_memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (memory->blocks[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void block_insert(struct fake_memory *memory, size_t index, struct fake_block block)
{
    if (memory->count == memory->room) {
        memory->room = memory->room ? memory->room * 2 : 64;
        memory->blocks = realloc(memory->blocks, memory->room * sizeof(block));
        if (!memory->blocks)
            abort();
    }
    memmove(&memory->blocks[index + 1], &memory->blocks[index],
            (memory->count - index) * sizeof(block));
    memory->blocks[index] = block;
    memory->count++;
    memory->used_bytes += block.size_bytes;
}

static struct fake_block block_remove(struct fake_memory *memory, size_t index)
{
    struct fake_block block = memory->blocks[index];

    memory->count--;
    memmove(&memory->blocks[index], &memory->blocks[index + 1],
            (memory->count - index) * sizeof(block));
    memory->used_bytes -= block.size_bytes;
    return block;
}

static uint64_t round_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

uint64_t fake_memory_alloc(struct fake_memory *memory, uint64_t size_bytes, uint64_t alignment,
                           uint64_t tag)
{
    uint64_t address = 0;

    pthread_mutex_lock(&memory->lock);
    if (size_bytes && size_bytes <= memory->capacity_bytes - memory->used_bytes) {
        uint64_t start = round_up(memory->base, alignment);
        size_t index = 0;

        while (index < memory->count && memory->blocks[index].address < start + size_bytes) {
            start = round_up(memory->blocks[index].address + memory->blocks[index].size_bytes,
                             alignment);
            index++;
        }
        address = start;
        block_insert(memory, index, (struct fake_block){start, size_bytes, tag});
    }
    pthread_mutex_unlock(&memory->lock);
    return address;
}

bool fake_memory_add(struct fake_memory *memory, uint64_t address, uint64_t size_bytes,
                     uint64_t tag)
{
    size_t index;
    bool is_free;

    pthread_mutex_lock(&memory->lock);
    index = index_behind(memory, address);
    is_free = (!index || memory->blocks[index - 1].address + memory->blocks[index - 1].size_bytes <=
                             address) &&
              (index == memory->count || address + size_bytes <= memory->blocks[index].address);
    if (is_free)
        block_insert(memory, index, (struct fake_block){address, size_bytes, tag});
    pthread_mutex_unlock(&memory->lock);
    return is_free;
}

bool fake_memory_free(struct fake_memory *memory, uint64_t address, struct fake_block *block)
{
    struct fake_block removed;
    size_t index;
    bool is_known;

    pthread_mutex_lock(&memory->lock);
    index = index_behind(memory, address);
    is_known = index && memory->blocks[index - 1].address == address;
    if (is_known) {
        removed = block_remove(memory, index - 1);
        if (block)
            *block = removed;
    }
    pthread_mutex_unlock(&memory->lock);
    return is_known;
}

bool fake_memory_find(struct fake_memory *memory, uint64_t address, struct fake_block *block)
{
    size_t index;
    bool is_known;

    pthread_mutex_lock(&memory->lock);
    index = index_behind(memory, address);
    is_known =
        index && address - memory->blocks[index - 1].address < memory->blocks[index - 1].size_bytes;
    if (is_known)
        *block = memory->blocks[index - 1];
    pthread_mutex_unlock(&memory->lock);
    return is_known;
}

uint64_t fake_memory_used(struct fake_memory *memory)
{
    uint64_t used;

    pthread_mutex_lock(&memory->lock);
    used = memory->used_bytes;
    pthread_mutex_unlock(&memory->lock);
    return used;
}

size_t fake_memory_count(struct fake_memory *memory)
{
    size_t count;

    pthread_mutex_lock(&memory->lock);
    count = memory->count;
    pthread_mutex_unlock(&memory->lock);
    return count;
}
