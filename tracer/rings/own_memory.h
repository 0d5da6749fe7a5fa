/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages for ourselves, straight from the kernel: the C library's functions may be hooked, by us.
 */
#ifndef LEAKTIDE_TRACER_OWN_MEMORY_H
#define LEAKTIDE_TRACER_OWN_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Zeros, taken as they are touched; NULL: no address space, errno tells. */
static inline void *own_memory_map(size_t size_bytes)
{
    long address = syscall(SYS_mmap, NULL, size_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return address == -1 ? NULL : (void *)address;
}

static inline void own_memory_unmap(void *memory, size_t size_bytes)
{
    syscall(SYS_munmap, memory, size_bytes);
}

#endif
