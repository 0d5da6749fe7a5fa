/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages for ourselves, straight from the kernel: the C library's functions may be hooked, by us.
 * They are kept in a list, so that whoever looks at the memory of the process can tell them from
 * its own.
 *
 * A range is one word: the number of its first page and how many pages of OWN_PAGE_BYTES there are.
 * Ranges that touch are one. What finds no place in the list counts as the process's. No lock: any
 * thread and signal handler.
 */
#ifndef LEAKTIDE_TRACER_OWN_MEMORY_H
#define LEAKTIDE_TRACER_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_rings_process;

enum { OWN_PAGE_BYTES = 4096, OWN_COUNT_BITS = 28 };

struct own_range {
    uint64_t start, end;
};

static inline struct own_range own_range_of(uint64_t word)
{
    uint64_t start = (word >> OWN_COUNT_BITS) * OWN_PAGE_BYTES;
    uint64_t count = word & ((UINT64_C(1) << OWN_COUNT_BITS) - 1);

    return (struct own_range){start, start + count * OWN_PAGE_BYTES};
}

/* Zeros, taken as they are touched; NULL: no address space, errno tells. */
void *own_memory_map(size_t size_bytes);
void own_memory_unmap(void *memory, size_t size_bytes);

/* Of pages that were mapped, or are to be unmapped, by somebody else; also a part of what was
 * noted. */
void own_memory_note(const void *memory, size_t size_bytes);
void own_memory_forget(const void *memory, size_t size_bytes);

/* The first range of ours that has something in [start, end), cut to that; false: none has. */
bool own_memory_next(uint64_t start, uint64_t end, struct own_range *first);

/* So many bytes more of it are filled. */
void own_memory_fill(uint64_t more_bytes);
uint64_t own_memory_filled(void);

/* From now on, the place says it, too; NULL: none does. */
void own_memory_show(struct mt_rings_process *place);

#endif
