/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>

enum { SMALL_PAGE_BYTES = 65536 }; /* of the machines that there are, the largest */

static const size_t large_bytes = (size_t)4 << 20; /* two huge pages */

void huge_pages_want(void *memory, size_t size_bytes)
{
    uintptr_t begin =
        ((uintptr_t)memory + SMALL_PAGE_BYTES - 1) & ~(uintptr_t)(SMALL_PAGE_BYTES - 1);
    uintptr_t end = ((uintptr_t)memory + size_bytes) & ~(uintptr_t)(SMALL_PAGE_BYTES - 1);

    if (size_bytes > large_bytes)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}
