/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator that fails on the n-th call, to be preloaded.
 *
 * LEAKTIDE_FAILING_ALLOCATIONS names a file of a struct order, which all processes of a run map:
 * the calls of all of them are counted together, and one of them fails (or it and all after it). It
 * is glibc's own otherwise. Without the file nothing fails. If the file has room after the order, a
 * number of the call stack of each call stands there: calls with the same number come from one
 * place of the program, reached in the same way.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the driver writes and reads: little numbers in the machine's own order. */
struct order {
    _Atomic uint64_t count;  /* of calls so far */
    uint64_t fails_at;       /* 1: the first; 0: none does */
    uint64_t fails_on;       /* 1: and all that follow */
    _Atomic uint64_t failed; /* how many did */
    uint64_t stacks[];       /* of the first calls: numbers of their call stacks */
};

enum { FRAMES_MAX = 48 };

void *__libc_malloc(size_t size_bytes);
void *__libc_calloc(size_t count, size_t size_bytes);
void *__libc_realloc(void *block, size_t size_bytes);
void *__libc_memalign(size_t alignment, size_t size_bytes);

static struct order *order;
static size_t stacks_max;

__attribute__((constructor)) static void order_open(void)
{
    const char *path = getenv("LEAKTIDE_FAILING_ALLOCATIONS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct stat status;
    void *mapped = MAP_FAILED;
    void *frame;

    backtrace(&frame, 1); /* loads its library now: later it allocates nothing */
    if (file >= 0 && fstat(file, &status) == 0) {
        mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        stacks_max = ((size_t)status.st_size - sizeof(*order)) / sizeof(order->stacks[0]);
    }
    if (file >= 0)
        close(file);
    if (mapped != MAP_FAILED)
        order = mapped;
}

static uint64_t stack_number(void)
{
    void *frames[FRAMES_MAX];
    int count = backtrace(frames, FRAMES_MAX);
    uint64_t number = 0xcbf29ce484222325u;

    for (int i = 0; i < count; i++)
        number = (number ^ (uint64_t)(uintptr_t)frames[i]) * 0x100000001b3u;
    return number;
}

static bool fails(void)
{
    uint64_t call;

    if (!order)
        return false;
    call = atomic_fetch_add(&order->count, 1) + 1;
    if (call <= stacks_max)
        order->stacks[call - 1] = stack_number();
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
