/* SPDX-License-Identifier: Apache-2.0 */
#include "page_tree.h"

#include <string.h>

enum {
    ADDRESS_BITS = 48,
    LEAVES_TRIED_MOST = 64,
    HEAPS_TRIED_MOST = 64,
    HEAP_RESIDENT_LEAST = 1 << 14,
    PAGES_TRIED_MOST = 4096 /* of a heap, which may begin with memory that no leaf knows */
};

/* --- from a page to its word ----------------------------------------------------------------- */

uint64_t page_tree_bytes(const struct page_tree_shape *shape)
{
    return sizeof(uint64_t) << (ADDRESS_BITS - shape->leaf_shift);
}

static uint64_t leaf_bytes(const struct page_tree_shape *shape)
{
    return sizeof(uint64_t) << (shape->leaf_shift - shape->page_shift);
}

static uint64_t word_address(const struct page_tree_shape *shape, uint64_t leaf, uint64_t page)
{
    return leaf + page * sizeof(uint64_t) % leaf_bytes(shape);
}

/* All words that stand beside that of this page of the heap. */
static void leaf_fetch(struct page_tree *tree, uint64_t page)
{
    const struct page_tree_shape *shape = tree->shape;
    uint64_t leaf, first = page / PAGE_TREE_WORDS * PAGE_TREE_WORDS;
    uint64_t at = tree->tree + (page >> (shape->leaf_shift - shape->page_shift)) * sizeof(leaf);

    memset(tree->words, 0, sizeof(tree->words));
    tree->first_page = first;
    if (!memory_word(tree->memory, at, &leaf) || !leaf)
        return;
    for (uint64_t i = 0; i < PAGE_TREE_WORDS; i++) /* a leaf may begin within a page */
        memory_word(tree->memory, word_address(shape, leaf, first + i), &tree->words[i]);
}

uint64_t page_tree_word(struct page_tree *tree, uint64_t address)
{
    uint64_t page = address >> tree->shape->page_shift;

    if (page - tree->first_page >= PAGE_TREE_WORDS)
        leaf_fetch(tree, page);
    return tree->words[page - tree->first_page];
}

/* --- where it is ------------------------------------------------------------------------------ */

struct variables {
    const struct page_tree_shape *shape;
    struct process_memory *memory;
    const struct mappings *mappings;
    uint64_t start, end;
};

/* Does this leaf know one of the first pages of the heap? The first word decides, as most of what
 * is asked is none. */
static bool is_leaf(const struct variables *in, uint64_t leaf, uint64_t heap_start,
                    uint64_t heap_end)
{
    unsigned shift = in->shape->page_shift;
    uint64_t first = heap_start >> shift, last = heap_end >> shift;

    if (last - first > PAGES_TRIED_MOST)
        last = first + PAGES_TRIED_MOST;
    for (uint64_t page = first; page < last; page++) {
        uint64_t word;

        if (!memory_word(in->memory, word_address(in->shape, leaf, page), &word))
            page |= PAGE_TREE_WORDS - 1; /* no page that it knows is near */
        else if (word)
            return in->shape->is_proved(in->memory, word, page << shift);
    }
    return false;
}

/* Allocators that grow the program's own heap have all of theirs there. */
static bool is_of_allocator(const struct mapping *mapping)
{
    return mapping_is_writable(mapping) &&
           (mapping_is_plain(mapping) || strcmp(mapping->name, "[heap]") == 0);
}

/* A leaf is in one mapping, as nothing else of an object's variables is that leads to one. */
static bool may_be_leaf(const struct variables *in, uint64_t leaf)
{
    const struct mapping *mapping =
        leaf && leaf % in->shape->leaf_align == 0 ? mappings_find(in->mappings, leaf) : NULL;

    return mapping && is_of_allocator(mapping) && mapping->end - leaf >= leaf_bytes(in->shape);
}

static bool may_be_heap(const struct mapping *mapping)
{
    return is_of_allocator(mapping) && mapping->resident_bytes >= HEAP_RESIDENT_LEAST &&
           !(mapping->start >> ADDRESS_BITS);
}

/* Most words of a tree are 0, and the others lead to leaves. */
static bool stands_among_leaves(const struct variables *in, uint64_t at)
{
    uint64_t before = 0, after = 0;

    memory_word(in->memory, at - sizeof(before), &before);
    memory_word(in->memory, at + sizeof(after), &after);
    return (!before || may_be_leaf(in, before)) && (!after || may_be_leaf(in, after));
}

/* Where the tree begins if its word at this address leads to the leaf; 0: no heap says so. */
static uint64_t tree_of(const struct variables *in, uint64_t at, uint64_t leaf)
{
    int tries = HEAPS_TRIED_MOST;

    for (size_t i = 0; i < in->mappings->count && tries; i++) {
        const struct mapping *heap = &in->mappings->rows[i];
        uint64_t tree = at - (heap->start >> in->shape->leaf_shift) * sizeof(leaf);

        if (!may_be_heap(heap) || tree < in->start || tree > in->end - page_tree_bytes(in->shape))
            continue;
        tries--;
        if (is_leaf(in, leaf, heap->start, heap->end))
            return tree;
    }
    return 0;
}

bool page_tree_find(struct page_tree *tree, const struct page_tree_shape *shape,
                    struct process_memory *memory, const struct mappings *mappings, uint64_t start,
                    uint64_t end)
{
    const struct variables in = {shape, memory, mappings, start, end};
    int leaves_left = LEAVES_TRIED_MOST;

    if (end < start + page_tree_bytes(shape))
        return false;
    for (uint64_t at = memory_next_resident(memory, start, end); leaves_left && at < end;
         at = memory_next_resident(memory, at + sizeof(at), end)) {
        uint64_t leaf, found;

        if (!memory_word(memory, at, &leaf) || !leaf || !may_be_leaf(&in, leaf) ||
            !stands_among_leaves(&in, at))
            continue;
        leaves_left--;
        found = tree_of(&in, at, leaf);
        if (found) {
            *tree = (struct page_tree){
                .shape = shape, .memory = memory, .tree = found, .first_page = UINT64_MAX / 2};
            return true;
        }
    }
    return false;
}
