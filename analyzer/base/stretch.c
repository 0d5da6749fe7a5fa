/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that grows in place.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "stretch.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "huge_pages.h"
#include "leaktide/invariant.h"

static const size_t page_bytes = (size_t)2 << 20; /* a huge page */
static const size_t reserved_least_bytes = (size_t)4 << 20;

static size_t whole_pages(size_t size_bytes)
{
    return (size_bytes + page_bytes - 1) & ~(page_bytes - 1);
}

/* Under a limit of address space, a stretch leaves room for others. */
static size_t share_of_limit(size_t most_bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        most_bytes > limit.rlim_cur / 4)
        return limit.rlim_cur / 4;
    return most_bytes;
}

bool stretch_init(struct stretch *stretch, size_t most_bytes)
{
    MT_ASSERT(most_bytes);
    memset(stretch, 0, sizeof(*stretch));
    most_bytes = share_of_limit(most_bytes);
    for (size_t bytes = whole_pages(most_bytes);; bytes = whole_pages(bytes / 2)) {
        void *space =
            mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (space != MAP_FAILED) {
            stretch->base = space;
            stretch->reserved_bytes = bytes;
            return true;
        }
        if (bytes <= reserved_least_bytes)
            return false;
    }
}

bool stretch_extend(struct stretch *stretch, size_t size_bytes)
{
    char *base = stretch->base;

    MT_ASSERT(base || !stretch->reserved_bytes);
    MT_ASSERT(stretch->usable_bytes <= stretch->reserved_bytes);
    MT_ASSERT(stretch->usable_bytes % page_bytes == 0);
    if (size_bytes <= stretch->usable_bytes)
        return true;
    if (size_bytes > stretch->reserved_bytes)
        return false;
    size_bytes = whole_pages(size_bytes);
    if (mprotect(base + stretch->usable_bytes, size_bytes - stretch->usable_bytes,
                 PROT_READ | PROT_WRITE) != 0)
        return false;
    huge_pages_want(base, size_bytes);
    stretch->usable_bytes = size_bytes;
    return true;
}

void stretch_clear(struct stretch *stretch)
{
    if (stretch->usable_bytes)
        madvise(stretch->base, stretch->usable_bytes, MADV_DONTNEED);
}

void stretch_release(struct stretch *stretch)
{
    if (stretch->base)
        munmap(stretch->base, stretch->reserved_bytes);
    memset(stretch, 0, sizeof(*stretch));
}
