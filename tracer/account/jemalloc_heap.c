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
    LEAF_PAGES = 1 << (LEAF_SHIFT - PAGE_SHIFT),
    LEAF_ALIGN = 64,
    LEAVES_TRIED_MOST = 64,
    HEAPS_TRIED_MOST = 64,
    HEAP_RESIDENT_LEAST = 1 << 14,
    PAGES_TRIED_MOST = 4096, /* of a heap, which may begin with memory that no leaf knows */
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

static uint64_t leaf_word_address(uint64_t leaf, uint64_t page)
{
    return leaf + page % LEAF_PAGES * sizeof(uint64_t);
}

/* All words that stand in one page with the word of this page of the heap. */
static void leaf_fetch(struct jemalloc *jemalloc, uint64_t page)
{
    uint64_t leaf, first = page / JEMALLOC_LEAF_WORDS * JEMALLOC_LEAF_WORDS;
    uint64_t at = jemalloc->tree + (page >> (LEAF_SHIFT - PAGE_SHIFT)) * sizeof(leaf);

    memset(jemalloc->words, 0, sizeof(jemalloc->words));
    jemalloc->first_page = first;
    if (!memory_word(jemalloc->memory, at, &leaf) || !leaf)
        return;
    for (uint64_t i = 0; i < JEMALLOC_LEAF_WORDS; i++) /* a leaf may begin within a page */
        memory_word(jemalloc->memory, leaf_word_address(leaf, first + i), &jemalloc->words[i]);
}

static uint64_t leaf_word(struct jemalloc *jemalloc, uint64_t address)
{
    uint64_t page = address >> PAGE_SHIFT;

    if (page - jemalloc->first_page >= JEMALLOC_LEAF_WORDS)
        leaf_fetch(jemalloc, page);
    return jemalloc->words[page - jemalloc->first_page];
}

/* --- the tree -------------------------------------------------------------------------------- */

/* Does this leaf know one of the first pages of the heap? The first word decides, as most of what
 * is asked is none. */
static bool is_leaf(struct process_memory *memory, uint64_t leaf, uint64_t heap_start,
                    uint64_t heap_end)
{
    uint64_t first = heap_start >> PAGE_SHIFT, last = heap_end >> PAGE_SHIFT;

    if (last - first > PAGES_TRIED_MOST)
        last = first + PAGES_TRIED_MOST;
    for (uint64_t page = first; page < last; page++) {
        struct extent extent;
        uint64_t word;

        if (!memory_word(memory, leaf_word_address(leaf, page), &word))
            page |= JEMALLOC_LEAF_WORDS - 1; /* no page that it knows is near */
        else if (word)
            return extent_read(memory, word, page << PAGE_SHIFT, &extent);
    }
    return false;
}

/* A leaf is in one plain mapping, as nothing else of an object's variables is that leads to one. */
static bool may_be_leaf(const struct mappings *mappings, uint64_t leaf)
{
    const struct mapping *mapping =
        leaf && leaf % LEAF_ALIGN == 0 ? mappings_find(mappings, leaf) : NULL;

    return mapping && mapping_is_plain(mapping) && mapping_is_writable(mapping) &&
           mapping->end - leaf >= LEAF_PAGES * sizeof(leaf);
}

static bool may_be_heap(const struct mapping *mapping)
{
    return mapping_is_plain(mapping) && mapping_is_writable(mapping) &&
           mapping->resident_bytes >= HEAP_RESIDENT_LEAST && !(mapping->start >> ADDRESS_BITS);
}

struct variables {
    struct process_memory *memory;
    const struct mappings *mappings;
    uint64_t start, end;
};

/* Most words of a tree are 0, and the others lead to leaves. */
static bool stands_among_leaves(const struct variables *in, uint64_t at)
{
    uint64_t before = 0, after = 0;

    memory_word(in->memory, at - sizeof(before), &before);
    memory_word(in->memory, at + sizeof(after), &after);
    return (!before || may_be_leaf(in->mappings, before)) &&
           (!after || may_be_leaf(in->mappings, after));
}

/* Where the tree begins if its word at this address leads to the leaf; 0: no heap says so. */
static uint64_t tree_of(const struct variables *in, uint64_t at, uint64_t leaf)
{
    int tries = HEAPS_TRIED_MOST;

    for (size_t i = 0; i < in->mappings->count && tries; i++) {
        const struct mapping *heap = &in->mappings->rows[i];
        uint64_t tree = at - (heap->start >> LEAF_SHIFT) * sizeof(leaf);

        if (!may_be_heap(heap) || tree < in->start || tree > in->end - JEMALLOC_TREE_BYTES)
            continue;
        tries--;
        if (is_leaf(in->memory, leaf, heap->start, heap->end))
            return tree;
    }
    return 0;
}

bool jemalloc_find(struct jemalloc *jemalloc, struct process_memory *memory,
                   const struct mappings *mappings, uint64_t start, uint64_t end)
{
    const struct variables in = {memory, mappings, start, end};
    int leaves_left = LEAVES_TRIED_MOST;

    if (end < start + JEMALLOC_TREE_BYTES)
        return false;
    for (uint64_t at = memory_next_resident(memory, start, end); leaves_left && at < end;
         at = memory_next_resident(memory, at + sizeof(at), end)) {
        uint64_t leaf, tree;

        if (!memory_word(memory, at, &leaf) || !leaf || !may_be_leaf(mappings, leaf) ||
            !stands_among_leaves(&in, at))
            continue;
        leaves_left--;
        tree = tree_of(&in, at, leaf);
        if (tree) {
            *jemalloc =
                (struct jemalloc){.memory = memory, .tree = tree, .first_page = UINT64_MAX / 2};
            return true;
        }
    }
    return false;
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
static bool slab_take(const struct extent *extent, struct jemalloc_extent *taken)
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

struct jemalloc_extent jemalloc_extent_at(struct jemalloc *jemalloc, uint64_t address, uint64_t end)
{
    struct jemalloc_extent taken = {0};
    struct extent extent;
    uint64_t word = leaf_word(jemalloc, address);

    if (!word) {
        taken.size_bytes = base_block_bytes(jemalloc->memory, address, end);
        taken.is_own = true;
        return taken;
    }
    if (!extent_read(jemalloc->memory, word, address, &extent))
        return taken;
    taken.size_bytes = extent.size_bytes;
    if ((extent.bits >> STATE_SHIFT & STATE_MASK) != STATE_ACTIVE)
        taken.free_bytes = extent.size_bytes;
    else if (!(extent.bits >> SLAB_SHIFT & 1))
        taken.block_count = 1;
    else if (!slab_take(&extent, &taken))
        taken.size_bytes = 0;
    if (taken.size_bytes > end - address)
        taken.size_bytes = end - address;
    return taken;
}
