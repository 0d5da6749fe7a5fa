/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tracer has from its hooks, for one that hooks no function.
 *
 * Nobody hooks malloc, so the heap of the program is good enough. The private jemalloc cannot be
 * here: its thread storage is larger than what the C library keeps for libraries that come when
 * the program runs. And nobody sees the program use a CUDA device.
 */
#include <stdlib.h>

#include "device_memory.h"
#include "private_heap.h"

void *mt_je_malloc(size_t size_bytes)
{
    return malloc(size_bytes);
}

void *mt_je_calloc(size_t count, size_t size_bytes)
{
    return calloc(count, size_bytes);
}

void *mt_je_realloc(void *block, size_t size_bytes)
{
    return realloc(block, size_bytes);
}

void mt_je_free(void *block)
{
    free(block);
}

uint64_t cuda_devices_in_use(void)
{
    return 0;
}

bool cuda_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    (void)device;
    (void)free_bytes;
    (void)total_bytes;
    return false;
}
