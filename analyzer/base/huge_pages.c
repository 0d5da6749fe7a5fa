/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { SMALL_PAGE_BYTES = 65536 }; /* of the machines that there are, the largest */

static const size_t large_bytes = (size_t)4 << 20; /* two huge pages */

static const size_t filled_bytes = (size_t)256 << 10; /* mapped alone by the C library */

/* Whole pages within the memory. */
static void advise(void *memory, size_t size_bytes, int advice)
{
    uintptr_t begin =
        ((uintptr_t)memory + SMALL_PAGE_BYTES - 1) & ~(uintptr_t)(SMALL_PAGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)memory + size_bytes) & ~(uintptr_t)(SMALL_PAGE_BYTES - 1);

    if (begin < end)
        madvise((void *)begin, end - begin, advice);
}

void huge_pages_want(void *memory, size_t size_bytes)
{
    if (size_bytes > large_bytes)
        advise(memory, size_bytes, MADV_HUGEPAGE);
}

void huge_pages_fill(void *memory, size_t size_bytes)
{
    if (size_bytes >= filled_bytes)
        advise(memory, size_bytes, MADV_POPULATE_WRITE);
}
