/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that grows in place.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "stretch.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "huge_pages.h"
#include "leaktide/invariant.h"

enum { LEFT_PARTS = 8 };

static const size_t page_bytes = (size_t)2 << 20; /* a huge page */
static const size_t reserved_least_bytes = (size_t)4 << 20;

static size_t whole_pages(size_t size_bytes)
{
    return (size_bytes + page_bytes - 1) & ~(page_bytes - 1);
}

/* Address space of this process; 0: nobody knows. */
static uint64_t used_bytes(void)
{
    char text[64] = "";
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size_bytes = file < 0 ? 0 : read(file, text, sizeof(text) - 1);

    if (file >= 0)
        close(file);
    return size_bytes > 0 ? strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Under a limit of address space, a stretch leaves most of what there still is to others: those
 * that follow, and the heap. */
static size_t share_of_limit(size_t most_bytes)
{
    struct rlimit limit;
    uint64_t used = used_bytes(), left_bytes;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return most_bytes;
    left_bytes = limit.rlim_cur > used ? (limit.rlim_cur - used) / LEFT_PARTS : 0;
    if (left_bytes < reserved_least_bytes)
        left_bytes = reserved_least_bytes;
    return most_bytes > left_bytes ? left_bytes : most_bytes;
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
