/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: include/jemalloc/internal/{edata,rtree,sc,base}.h of jemalloc 5.3, 64 bits, 48 bits of
 * addresses, pages of 4 KiB.
 */
#include "jemalloc_heap.h"

#include <string.h>

enum {
    PAGE_SHIFT = 12,
    LEAF_SHIFT = 30,
    LEAF_ALIGN = 64,
    EXTENT_ALIGN = 128,

    /* struct edata_s, first word */
    SLAB_SHIFT = 12,
    STATE_SHIFT = 17,
    STATE_MASK = 7,
    CLASS_SHIFT = 20,
    CLASS_MASK = 255,
    FREE_SHIFT = 28,
    FREE_MASK = 1023,

    CLASSES = 235,
    SMALL_CLASSES = 39,
    QUANTUM_SHIFT = 4,
    TINY_BYTES = 8,
    GROUP_SHIFT = 2, /* four classes from one power of two to the next */
    BASE_ALIGN = 2 << 20
};

#define ADDRESS_BITS    48
#define BASE_BYTES_MOST (UINT64_C(1) << 34)

enum extent_state { STATE_ACTIVE, STATE_DIRTY, STATE_MUZZY, STATE_RETAINED, STATES };

/* struct edata_s, its begin */
struct extent {
    uint64_t bits, address, size_bytes;
};

/* --- from a page to its extent --------------------------------------------------------------- */

/* A leaf's word: the class above the address, and flags below. */
static uint64_t extent_address(uint64_t word)
{
    uint64_t address = word & ((UINT64_C(1) << ADDRESS_BITS) - 1);

    return address / EXTENT_ALIGN * EXTENT_ALIGN;
}

/* Does the extent that a leaf's word leads to say that it begins there? */
static bool extent_read(struct process_memory *memory, uint64_t word, uint64_t address,
                        struct extent *extent)
{
    uint64_t at = extent_address(word);
    const void *bytes = at ? memory_at(memory, at, sizeof(*extent)) : NULL;

    if (!bytes)
        return false;
    memcpy(extent, bytes, sizeof(*extent));
    extent->size_bytes = extent->size_bytes >> PAGE_SHIFT << PAGE_SHIFT; /* below: its number */
    return extent->address >> PAGE_SHIFT == address >> PAGE_SHIFT && extent->size_bytes &&
           (extent->bits >> STATE_SHIFT & STATE_MASK) < STATES &&
           (extent->bits >> CLASS_SHIFT & CLASS_MASK) <= CLASSES;
}

static bool is_proved(struct process_memory *memory, uint64_t word, uint64_t address)
{
    struct extent extent;

    return extent_read(memory, word, address, &extent);
}

static const struct page_tree_shape shape = {PAGE_SHIFT, LEAF_SHIFT, LEAF_ALIGN, is_proved};

bool jemalloc_find(struct page_tree *tree, struct process_memory *memory,
                   const struct mappings *mappings, uint64_t start, uint64_t end)
{
    return page_tree_find(tree, &shape, memory, mappings, start, end);
}

/* --- what an extent is ----------------------------------------------------------------------- */

static uint64_t class_bytes(uint64_t size_class)
{
    uint64_t number = size_class - 1, group = number >> GROUP_SHIFT;
    uint64_t step = (number & ((1 << GROUP_SHIFT) - 1)) + 1;

    if (!size_class)
        return TINY_BYTES;
    if (!group)
        return step << QUANTUM_SHIFT;
    return (UINT64_C(1) << (QUANTUM_SHIFT + GROUP_SHIFT + group - 1)) +
           (step << (QUANTUM_SHIFT + group - 1));
}

/* Of one size, next to each other. False: it says what cannot be. */
static bool slab_take(const struct extent *extent, struct heap_extent *taken)
{
    uint64_t size_class = extent->bits >> CLASS_SHIFT & CLASS_MASK;
    uint64_t free_count = extent->bits >> FREE_SHIFT & FREE_MASK, all_count;

    if (size_class >= SMALL_CLASSES)
        return false;
    all_count = extent->size_bytes / class_bytes(size_class);
    if (free_count > all_count)
        return false;
    taken->free_bytes = free_count * class_bytes(size_class);
    taken->block_count = all_count - free_count;
    return true;
}

/* struct base_block_s: its size, the next one, the extent that is not used yet, in the block. */
static uint64_t base_block_bytes(struct process_memory *memory, uint64_t address, uint64_t end)
{
    struct {
        uint64_t size_bytes, next;
        struct extent unused;
    } block;
    const void *bytes = address % BASE_ALIGN ? NULL : memory_at(memory, address, sizeof(block));

    if (!bytes)
        return 0;
    memcpy(&block, bytes, sizeof(block));
    if (!block.size_bytes || block.size_bytes % BASE_ALIGN || block.size_bytes > BASE_BYTES_MOST ||
        block.next % BASE_ALIGN || block.unused.address <= address ||
        block.unused.address > address + block.size_bytes)
        return 0;
    return block.size_bytes < end - address ? block.size_bytes : end - address;
}

struct heap_extent jemalloc_extent_at(struct page_tree *tree, uint64_t address, uint64_t end)
{
    struct heap_extent taken = {0};
    struct extent extent;
    uint64_t word = page_tree_word(tree, address);

    if (!word) {
        taken.size_bytes = base_block_bytes(tree->memory, address, end);
        taken.is_own = true;
        return taken;
    }
    if (!extent_read(tree->memory, word, address, &extent))
        return taken;
    taken.size_bytes = extent.size_bytes;
    if ((extent.bits >> STATE_SHIFT & STATE_MASK) != STATE_ACTIVE)
        taken.free_bytes = extent.size_bytes, taken.is_spare = true;
    else if (!(extent.bits >> SLAB_SHIFT & 1))
        taken.block_count = 1;
    else if (!slab_take(&extent, &taken))
        taken.size_bytes = 0;
    if (taken.size_bytes > end - address)
        taken.size_bytes = end - address;
    return taken;
}
