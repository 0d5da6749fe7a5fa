/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake libc10.so: PyTorch's allocators as far as they report and make memory of the host.
 *
 * A device's caching allocator takes segments of 2 MiB from cudaMalloc and hands out parts of them,
 * the lowest first. The host's default allocator reports each block while a profiler runs; a mapped
 * storage always does.
 */
#ifndef LEAKTIDE_FAKE_C10_H
#define LEAKTIDE_FAKE_C10_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_C10_SEGMENT_BYTES = 2 << 20 };

/* NULL and a report of the failure when the device is full. */
void *fake_c10_device_alloc(int device, size_t size);
void fake_c10_device_free(int device, void *block);
uint64_t fake_c10_device_used(int device);
uint64_t fake_c10_device_reserved(int device);

/* As torch_npu: 902 MiB are refused on device 1, and an exception is made. Returns the line that
 * the real constructor was given. */
uint32_t fake_c10_npu_refuse(uint32_t line);

/* As DefaultCPUAllocator does it. */
void *fake_c10_host_alloc(size_t size);
void fake_c10_host_free(void *block, size_t size);

/* As MapAllocator does it. */
void *fake_c10_mapped_alloc(size_t size);
void fake_c10_mapped_free(void *block, size_t size);

/* A profiler with memory runs from here on, or no longer. */
void fake_c10_profile(bool is_on);
/* How many reports reached the real functions. */
unsigned fake_c10_reports(void);

#endif
