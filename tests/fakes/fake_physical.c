/* SPDX-License-Identifier: Apache-2.0 */
/* Implements fake_physical.h, with one lock for all. Handles are never used twice. */
#include "fake_physical.h"

enum { HANDLES_MAX = 65536, HANDLE_STEP = 64 };

struct piece {
    struct fake_memory *memory;
    uint64_t address; /* its room in the memory */
    uint32_t holders; /* handles with references, and mappings */
};

struct handle {
    struct piece *piece;
    uint32_t references;
};

static uint64_t handle_base = UINT64_C(0x5500000000);
static struct fake_memory addresses = FAKE_MEMORY(UINT64_C(0x700000000000), UINT64_C(1) << 44);
static struct fake_memory mappings = FAKE_MEMORY(0, UINT64_MAX);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct piece pieces[HANDLES_MAX];
static struct handle handles[HANDLES_MAX];
static size_t piece_count, handle_count, live_pieces;

void fake_physical_start_at(uint64_t first_handle, uint64_t first_address)
{
    handle_base = first_handle;
    addresses.base = first_address;
}

/* NULL for what is no live handle. */
static struct handle *handle_of(uint64_t number)
{
    uint64_t index = (number - handle_base) / HANDLE_STEP;

    if (number < handle_base || (number - handle_base) % HANDLE_STEP || index >= handle_count ||
        !handles[index].references)
        return NULL;
    return &handles[index];
}

static uint64_t handle_add(struct piece *piece)
{
    handles[handle_count] = (struct handle){piece, 1};
    piece->holders++;
    return handle_base + HANDLE_STEP * handle_count++;
}

static void piece_drop(struct piece *piece)
{
    if (--piece->holders == 0) {
        fake_memory_free(piece->memory, piece->address, NULL);
        live_pieces--;
    }
}

enum fake_result fake_physical_create(struct fake_memory *memory, uint64_t size_bytes,
                                      uint64_t *handle)
{
    enum fake_result result = FAKE_FULL;
    uint64_t address;

    pthread_mutex_lock(&lock);
    address = handle_count < HANDLES_MAX ? fake_memory_alloc(memory, size_bytes, 4096, 0) : 0;
    if (address) {
        pieces[piece_count] = (struct piece){memory, address, 0};
        *handle = handle_add(&pieces[piece_count++]);
        live_pieces++;
        result = FAKE_OK;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

enum fake_result fake_physical_release(uint64_t number)
{
    struct handle *handle;

    pthread_mutex_lock(&lock);
    handle = handle_of(number);
    if (handle && --handle->references == 0)
        piece_drop(handle->piece);
    pthread_mutex_unlock(&lock);
    return handle ? FAKE_OK : FAKE_INVALID;
}

enum fake_result fake_physical_retain_at(uint64_t address, uint64_t *number)
{
    enum fake_result result = FAKE_INVALID;
    struct fake_block mapping;

    pthread_mutex_lock(&lock);
    if (fake_memory_find(&mappings, address, &mapping)) {
        struct handle *handle = handle_of(mapping.tag);

        if (handle) {
            handle->references++;
            *number = mapping.tag;
            result = FAKE_OK;
        }
    }
    pthread_mutex_unlock(&lock);
    return result;
}

enum fake_result fake_physical_export(uint64_t number, uint64_t *shared)
{
    enum fake_result result = FAKE_INVALID;

    pthread_mutex_lock(&lock);
    if (handle_of(number)) {
        *shared = ~number;
        result = FAKE_OK;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

enum fake_result fake_physical_import(uint64_t shared, uint64_t *number)
{
    enum fake_result result = FAKE_INVALID;
    struct handle *handle;

    pthread_mutex_lock(&lock);
    handle = handle_of(~shared);
    if (handle && handle_count < HANDLES_MAX) {
        *number = handle_add(handle->piece);
        result = FAKE_OK;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

enum fake_result fake_virtual_reserve(uint64_t size_bytes, uint64_t alignment, uint64_t *address)
{
    *address = fake_memory_alloc(&addresses, size_bytes, alignment ? alignment : 4096, 0);
    return *address ? FAKE_OK : FAKE_FULL;
}

static bool has_mapping(const struct fake_block *reserved)
{
    struct fake_block mapping;

    for (uint64_t offset = 0; offset < reserved->size_bytes; offset += 4096)
        if (fake_memory_find(&mappings, reserved->address + offset, &mapping))
            return true;
    return false;
}

enum fake_result fake_virtual_free(uint64_t address)
{
    struct fake_block reserved;

    if (!fake_memory_find(&addresses, address, &reserved) || reserved.address != address ||
        has_mapping(&reserved))
        return FAKE_INVALID;
    return fake_memory_free(&addresses, address, NULL) ? FAKE_OK : FAKE_INVALID;
}

enum fake_result fake_virtual_map(uint64_t address, uint64_t size_bytes, uint64_t number)
{
    enum fake_result result = FAKE_INVALID;
    struct fake_block reserved;
    struct handle *handle;

    pthread_mutex_lock(&lock);
    handle = handle_of(number);
    if (handle && size_bytes && fake_memory_find(&addresses, address, &reserved) &&
        address + size_bytes <= reserved.address + reserved.size_bytes &&
        fake_memory_add(&mappings, address, size_bytes, number)) {
        handle->piece->holders++;
        result = FAKE_OK;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

enum fake_result fake_virtual_unmap(uint64_t address)
{
    enum fake_result result = FAKE_INVALID;
    struct fake_block mapping;

    pthread_mutex_lock(&lock);
    if (fake_memory_free(&mappings, address, &mapping)) {
        piece_drop(handles[(mapping.tag - handle_base) / HANDLE_STEP].piece);
        result = FAKE_OK;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

size_t fake_physical_count(void)
{
    size_t count;

    pthread_mutex_lock(&lock);
    count = live_pieces;
    pthread_mutex_unlock(&lock);
    return count;
}

size_t fake_virtual_count(void)
{
    return fake_memory_count(&addresses);
}

size_t fake_mapping_count(void)
{
    return fake_memory_count(&mappings);
}
