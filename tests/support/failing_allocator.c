/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator that fails on the n-th call, to be preloaded.
 *
 * LEAKTIDE_FAILING_ALLOCATIONS names a file of a struct order, which all processes of a run map:
 * the calls of all of them are counted together, and one of them fails (or it and all after it). It
 * is glibc's own otherwise. Without the file nothing fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the driver writes and reads: little numbers in the machine's own order. */
struct order {
    _Atomic uint64_t count;  /* of calls so far */
    uint64_t fails_at;       /* 1: the first; 0: none does */
    uint64_t fails_on;       /* 1: and all that follow */
    _Atomic uint64_t failed; /* how many did */
};

void *__libc_malloc(size_t size_bytes);
void *__libc_calloc(size_t count, size_t size_bytes);
void *__libc_realloc(void *block, size_t size_bytes);
void *__libc_memalign(size_t alignment, size_t size_bytes);

static struct order *order;

__attribute__((constructor)) static void order_open(void)
{
    const char *path = getenv("LEAKTIDE_FAILING_ALLOCATIONS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped = MAP_FAILED;

    if (file >= 0) {
        mapped = mmap(NULL, sizeof(*order), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
    }
    if (mapped != MAP_FAILED)
        order = mapped;
}

static bool fails(void)
{
    uint64_t call;

    if (!order)
        return false;
    call = atomic_fetch_add(&order->count, 1) + 1;
    if (!order->fails_at || (order->fails_on ? call < order->fails_at : call != order->fails_at))
        return false;
    atomic_fetch_add(&order->failed, 1);
    errno = ENOMEM;
    return true;
}

__attribute__((visibility("default"))) void *malloc(size_t size_bytes)
{
    return fails() ? NULL : __libc_malloc(size_bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size_bytes)
{
    return fails() ? NULL : __libc_calloc(count, size_bytes);
}

__attribute__((visibility("default"))) void *realloc(void *block, size_t size_bytes)
{
    return fails() ? NULL : __libc_realloc(block, size_bytes);
}

__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t size_bytes)
{
    return fails() ? NULL : __libc_memalign(alignment, size_bytes);
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t size_bytes)
{
    return memalign(alignment, size_bytes);
}

__attribute__((visibility("default"))) int posix_memalign(void **block, size_t alignment,
                                                          size_t size_bytes)
{
    void *got = memalign(alignment, size_bytes);

    if (!got)
        return ENOMEM;
    *block = got;
    return 0;
}
