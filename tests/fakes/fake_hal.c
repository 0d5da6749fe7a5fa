/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libascend_hal.so: the driver of four devices that are not there. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_ascend.h"
#include "fake_memory.h"
#include "fake_physical.h"

enum { DRV_INVALID_DEVICE = 2, DRV_INVALID_HANDLE = 4, DRV_NOT_EXIST = 7 };

#define DEVICE_BYTES     (UINT64_C(1) << 36)
#define DEVICE_MEMORY(n) FAKE_MEMORY(UINT64_C(0x12c000000000) + ((uint64_t)(n) << 40), DEVICE_BYTES)

static struct fake_memory devices[FAKE_DEVICES] = {DEVICE_MEMORY(0), DEVICE_MEMORY(1),
                                                   DEVICE_MEMORY(2), DEVICE_MEMORY(3)};
static struct fake_memory host = FAKE_MEMORY(0, UINT64_MAX); /* real memory, by its address */
static struct fake_memory registered[FAKE_DEVICES] = {
    FAKE_MEMORY(0, UINT64_MAX), FAKE_MEMORY(0, UINT64_MAX), FAKE_MEMORY(0, UINT64_MAX),
    FAKE_MEMORY(0, UINT64_MAX)};
static struct fake_memory buffers = FAKE_MEMORY(0, UINT64_MAX);
static struct fake_memory opened = FAKE_MEMORY(UINT64_C(0x600000000000), UINT64_MAX / 2);
static atomic_bool refuses_next_free;
static _Atomic(unsigned char *) contents[FAKE_DEVICES]; /* of the device, from its base */
static _Atomic int next_copy_status;

__attribute__((constructor)) static void capacity_read(void)
{
    const char *text = getenv("FAKE_ASCEND_MEMORY");

    for (size_t i = 0; text && i < FAKE_DEVICES; i++)
        devices[i].capacity_bytes = strtoull(text, NULL, 10);
}

static int status_of(enum fake_result result)
{
    static const int statuses[] = {[FAKE_OK] = 0,
                                   [FAKE_INVALID] = DRV_STATUS_INVALID_VALUE,
                                   [FAKE_FULL] = DRV_STATUS_OUT_OF_MEMORY};

    return statuses[result];
}

static int host_alloc(struct fake_memory *memory, void **address, uint64_t size)
{
    *address = size && size < UINT64_C(1) << 40 ? malloc(size) : NULL;
    if (!*address)
        return DRV_STATUS_OUT_OF_MEMORY;
    fake_memory_add(memory, (uintptr_t)*address, size, 0);
    return 0;
}

static int host_free(struct fake_memory *memory, void *address)
{
    if (!fake_memory_free(memory, (uintptr_t)address, NULL))
        return DRV_STATUS_INVALID_VALUE;
    free(address);
    return 0;
}

static bool is_refused(void)
{
    return atomic_exchange(&refuses_next_free, false);
}

int halMemAlloc(void **address, unsigned long long size, unsigned long long flag)
{
    uint32_t device = (uint32_t)(flag & 0x3ff);
    unsigned kind = (unsigned)(flag >> HAL_KIND_SHIFT & 15);
    uint64_t found;

    if (!address || !size)
        return DRV_STATUS_INVALID_VALUE;
    if (kind == HAL_KIND_HOST || kind == HAL_KIND_HOST_AGENT || kind == HAL_KIND_HOST_UVA)
        return host_alloc(&host, address, size);
    if (device >= FAKE_DEVICES)
        return DRV_INVALID_DEVICE;
    found = fake_memory_alloc(&devices[device], size, 512, 0);
    if (!found)
        return DRV_STATUS_OUT_OF_MEMORY;
    *address = (void *)(uintptr_t)found;
    return 0;
}

/* The bytes of a device, all of its capacity; pages come with the first use. */
static unsigned char *contents_of(uint32_t device)
{
    unsigned char *bytes = atomic_load(&contents[device]), *expected = NULL;
    size_t size = devices[device].capacity_bytes;

    if (bytes)
        return bytes;
    bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    if (!atomic_compare_exchange_strong(&contents[device], &expected, bytes)) {
        munmap(bytes, size);
        bytes = expected;
    }
    return bytes;
}

/* Where the contents of a range of one live block are; host addresses are themselves. */
static unsigned char *bytes_at(void *address, uint64_t size)
{
    uint64_t start = (uintptr_t)address;

    for (uint32_t i = 0; i < FAKE_DEVICES; i++) {
        struct fake_block block;
        unsigned char *bytes;

        if (start - devices[i].base >= devices[i].capacity_bytes)
            continue;
        if (!fake_memory_find(&devices[i], start, &block) ||
            size > block.size_bytes - (start - block.address))
            return NULL;
        bytes = contents_of(i);
        return bytes ? bytes + (start - devices[i].base) : NULL;
    }
    return address;
}

int fake_hal_copy(void *to, const void *from, uint64_t size)
{
    int status = atomic_exchange(&next_copy_status, 0);
    unsigned char *target = bytes_at(to, size);
    const unsigned char *source = bytes_at((void *)(uintptr_t)from, size);

    if (status)
        return status;
    if (!target || !source)
        return DRV_STATUS_INVALID_VALUE;
    memmove(target, source, size);
    return 0;
}

int fake_hal_fill(void *address, int value, uint64_t size)
{
    unsigned char *bytes = bytes_at(address, size);

    if (!bytes)
        return DRV_STATUS_INVALID_VALUE;
    memset(bytes, value, size);
    return 0;
}

void fake_hal_fail_next_copy(int status)
{
    atomic_store(&next_copy_status, status);
}

int halMemFree(void *address)
{
    if (is_refused())
        return FAKE_DRV_BUSY;
    for (size_t i = 0; i < FAKE_DEVICES; i++)
        if (fake_memory_free(&devices[i], (uintptr_t)address, NULL))
            return 0;
    return host_free(&host, address);
}

int halMemCreate(void **handle, size_t size, const struct hal_memory_property *property,
                 uint64_t flag)
{
    enum fake_result result;
    uint64_t number = 0;

    (void)flag;
    if (!handle || !property || property->device >= FAKE_DEVICES)
        return DRV_STATUS_INVALID_VALUE;
    result = fake_physical_create(&devices[property->device], size, &number);
    if (result == FAKE_OK)
        *handle = (void *)(uintptr_t)number;
    return status_of(result);
}

int halMemRelease(void *handle)
{
    if (is_refused())
        return FAKE_DRV_BUSY;
    return fake_physical_release((uintptr_t)handle) == FAKE_OK ? 0 : DRV_INVALID_HANDLE;
}

int halMemRetainAllocationHandle(void **handle, void *address)
{
    uint64_t number = 0;
    enum fake_result result = fake_physical_retain_at((uintptr_t)address, &number);

    if (result == FAKE_OK)
        *handle = (void *)(uintptr_t)number;
    return status_of(result);
}

int halMemAddressReserve(void **address, size_t size, size_t alignment, void *wanted, uint64_t flag)
{
    uint64_t found = 0;
    enum fake_result result = fake_virtual_reserve(size, alignment, &found);

    (void)wanted;
    (void)flag;
    if (result == FAKE_OK)
        *address = (void *)(uintptr_t)found;
    return status_of(result);
}

int halMemAddressFree(void *address)
{
    return status_of(fake_virtual_free((uintptr_t)address));
}

int halMemMap(void *address, size_t size, size_t offset, void *handle, uint64_t flag)
{
    (void)offset;
    (void)flag;
    return status_of(fake_virtual_map((uintptr_t)address, size, (uintptr_t)handle));
}

int halMemUnmap(void *address)
{
    return status_of(fake_virtual_unmap((uintptr_t)address));
}

int halMemExportToShareableHandle(void *handle, int type, uint64_t flags, uint64_t *shared)
{
    (void)type;
    (void)flags;
    return status_of(fake_physical_export((uintptr_t)handle, shared));
}

int halMemImportFromShareableHandle(uint64_t shared, uint32_t device, void **handle)
{
    uint64_t number = 0;
    enum fake_result result;

    if (device >= FAKE_DEVICES)
        return DRV_INVALID_DEVICE;
    result = fake_physical_import(shared, &number);
    if (result == FAKE_OK)
        *handle = (void *)(uintptr_t)number;
    return status_of(result);
}

int halHostRegister(void *source, uint64_t size, uint32_t flag, uint32_t device, void **address)
{
    (void)flag;
    if (device >= FAKE_DEVICES || !fake_memory_add(&registered[device], (uintptr_t)source, size, 0))
        return DRV_STATUS_INVALID_VALUE;
    if (address)
        *address = source;
    return 0;
}

int halHostUnregister(void *source, uint32_t device)
{
    if (device >= FAKE_DEVICES || !fake_memory_free(&registered[device], (uintptr_t)source, NULL))
        return DRV_NOT_EXIST;
    return 0;
}

/* The key is the address in words: other processes of the fake do not exist. */
int halShmemCreateHandle(unsigned long long address, size_t size, char *key, uint32_t key_size)
{
    (void)size;
    snprintf(key, key_size, "fake-%llx", address);
    return 0;
}

int halShmemOpenHandle(const char *key, unsigned long long *address)
{
    unsigned long long source;

    if (sscanf(key, "fake-%llx", &source) != 1)
        return DRV_NOT_EXIST;
    *address = fake_memory_alloc(&opened, 4096, 4096, source);
    return *address ? 0 : DRV_STATUS_OUT_OF_MEMORY;
}

int halShmemCloseHandle(unsigned long long address)
{
    return fake_memory_free(&opened, address, NULL) ? 0 : DRV_NOT_EXIST;
}

int halMemGetInfo(uint32_t device, unsigned type, struct hal_memory_info *info)
{
    if (device >= FAKE_DEVICES)
        return DRV_INVALID_DEVICE;
    memset(info, 0, 4 * sizeof(unsigned long));
    if (type == HAL_INFO_HBM) {
        info->huge_total = devices[device].capacity_bytes;
        info->huge_free = devices[device].capacity_bytes - fake_memory_used(&devices[device]);
    }
    return 0;
}

int halBuffAlloc(uint64_t size, void **buffer)
{
    return host_alloc(&buffers, buffer, size);
}

int halBuffFree(void *buffer)
{
    return host_free(&buffers, buffer);
}

uint64_t fake_hal_device_bytes(uint32_t device)
{
    return fake_memory_used(&devices[device]);
}

size_t fake_hal_device_blocks(uint32_t device)
{
    return fake_memory_count(&devices[device]);
}

uint64_t fake_hal_host_bytes(void)
{
    return fake_memory_used(&host) + fake_memory_used(&buffers);
}

size_t fake_hal_ranges(void)
{
    return fake_virtual_count();
}

size_t fake_hal_mappings(void)
{
    return fake_mapping_count();
}

void fake_hal_refuse_next_free(void)
{
    atomic_store(&refuses_next_free, true);
}
