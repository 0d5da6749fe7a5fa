/* SPDX-License-Identifier: Apache-2.0 */
/* Implements fake_c10.h. Its functions call each other by symbol, as those of the real library do.
 */
#include "fake_c10.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "fake_cuda.h"
#include "fake_memory.h"

/* c10::Device */
struct device {
    int8_t type;
    int8_t index;
};

enum {
    TYPE_CPU = 0,
    TYPE_CUDA = 1,
    BLOCK_ALIGNMENT = 512,
    TENSOR_ALIGNMENT = 64,
    SEGMENTS_MAX = 64
};

void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *, int64_t, size_t, size_t,
                                                           struct device);
void _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE(int64_t, size_t, size_t, struct device);
void *_ZN3c109alloc_cpuEm(size_t);
void _ZN3c108free_cpuEPv(void *);

/* c10::SourceLocation, and how a std::string begins. */
struct source_location {
    const char *function, *file;
    uint32_t line;
};
struct string {
    const char *text;
    size_t length_bytes;
};
#define OUT_OF_MEMORY_ERROR                                                                        \
    _ZN3c1016OutOfMemoryErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE
void OUT_OF_MEMORY_ERROR(void *, struct source_location, struct string *);

static struct caching_allocator {
    struct fake_memory segments[SEGMENTS_MAX];
    unsigned segment_count;
    uint64_t used_bytes;
} allocators[FAKE_CUDA_DEVICES];

static _Atomic unsigned reports;
static bool is_profiled;
static uint64_t host_used_bytes;

void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *block, int64_t size, size_t used,
                                                           size_t reserved, struct device device)
{
    (void)block, (void)size, (void)used, (void)reserved, (void)device;
    atomic_fetch_add(&reports, 1);
}

void _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE(int64_t size, size_t used, size_t reserved,
                                                         struct device device)
{
    (void)size, (void)used, (void)reserved, (void)device;
    atomic_fetch_add(&reports, 1);
}

void OUT_OF_MEMORY_ERROR(void *error, struct source_location location, struct string *message)
{
    *(uint32_t *)error = location.line + (uint32_t)message->length_bytes;
}

uint32_t fake_c10_npu_refuse(uint32_t line)
{
    static const char text[] = "NPU out of memory. Tried to allocate 902.00 MiB (NPU 1; ...";
    struct string message = {text, sizeof(text) - 1};
    uint32_t error = 0;

    OUT_OF_MEMORY_ERROR(&error, (struct source_location){__func__, __FILE__, line}, &message);
    return error - (uint32_t)message.length_bytes;
}

unsigned fake_c10_reports(void)
{
    return atomic_load(&reports);
}

static void report(void *block, int64_t size, int device)
{
    _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(
        block, size, allocators[device].used_bytes, fake_c10_device_reserved(device),
        (struct device){TYPE_CUDA, (int8_t)device});
}

uint64_t fake_c10_device_used(int device)
{
    return allocators[device].used_bytes;
}

uint64_t fake_c10_device_reserved(int device)
{
    return allocators[device].segment_count * (uint64_t)FAKE_C10_SEGMENT_BYTES;
}

static bool segment_add(struct caching_allocator *allocator, int device)
{
    void *segment = NULL;
    struct fake_memory empty;

    if (allocator->segment_count == SEGMENTS_MAX || cudaSetDevice(device) != 0 ||
        cudaMalloc(&segment, FAKE_C10_SEGMENT_BYTES) != 0)
        return false;
    empty = (struct fake_memory)FAKE_MEMORY((uintptr_t)segment, FAKE_C10_SEGMENT_BYTES);
    allocator->segments[allocator->segment_count++] = empty;
    return true;
}

static uint64_t part_find(struct caching_allocator *allocator, size_t size)
{
    uint64_t found = 0;

    for (unsigned i = 0; !found && i < allocator->segment_count; i++)
        found = fake_memory_alloc(&allocator->segments[i], size, BLOCK_ALIGNMENT, 0);
    return found;
}

void *fake_c10_device_alloc(int device, size_t size)
{
    struct caching_allocator *allocator = &allocators[device];
    uint64_t found = part_find(allocator, size);

    if (!found && size <= FAKE_C10_SEGMENT_BYTES && segment_add(allocator, device))
        found = part_find(allocator, size);
    if (!found) {
        _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE(
            (int64_t)size, allocator->used_bytes, fake_c10_device_reserved(device),
            (struct device){TYPE_CUDA, (int8_t)device});
        return NULL;
    }
    allocator->used_bytes += size;
    report((void *)(uintptr_t)found, (int64_t)size, device);
    return (void *)(uintptr_t)found;
}

void fake_c10_device_free(int device, void *block)
{
    struct caching_allocator *allocator = &allocators[device];
    struct fake_block freed;

    for (unsigned i = 0; i < allocator->segment_count; i++) {
        if (!fake_memory_free(&allocator->segments[i], (uintptr_t)block, &freed))
            continue;
        allocator->used_bytes -= freed.size_bytes;
        report(block, -(int64_t)freed.size_bytes, device);
        return;
    }
}

void *_ZN3c109alloc_cpuEm(size_t size)
{
    void *block = NULL;

    return posix_memalign(&block, TENSOR_ALIGNMENT, size) == 0 ? block : NULL;
}

void _ZN3c108free_cpuEPv(void *block)
{
    free(block);
}

static void host_report(void *block, int64_t size, size_t reserved)
{
    _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(block, size, host_used_bytes, reserved,
                                                          (struct device){TYPE_CPU, -1});
}

void *fake_c10_host_alloc(size_t size)
{
    void *block = _ZN3c109alloc_cpuEm(size);

    host_used_bytes += size;
    if (is_profiled)
        host_report(block, (int64_t)size, 0);
    return block;
}

void fake_c10_host_free(void *block, size_t size)
{
    host_used_bytes -= size;
    if (is_profiled)
        host_report(block, -(int64_t)size, 0);
    _ZN3c108free_cpuEPv(block);
}

void *fake_c10_mapped_alloc(size_t size)
{
    void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    host_report(block, (int64_t)size, size);
    return block;
}

void fake_c10_mapped_free(void *block, size_t size)
{
    munmap(block, size);
    host_report(block, -(int64_t)size, 0);
}

void fake_c10_profile(bool is_on)
{
    is_profiled = is_on;
}
