/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of CUDA's driver, made from cuda_driver.def.
 *
 * Seen are calls by symbol, and by what dlsym and cuGetProcAddress gave out. A runtime that is
 * linked into the program statically is seen here, and only here.
 */
#include "cuda_entry_points.h"
#include "cuda_places.h"

static const char *const driver_libraries[] = {"libcuda.so.1", NULL};

#define HOOK_TABLE       "cuda_driver.def"
#define HOOK_STATUS      int
#define HOOK_UNAVAILABLE CUDA_STATUS_NOT_INITIALISED
#define HOOK_LAYER       LAYER_CUDA_DRIVER
#define HOOK_LIBRARIES   driver_libraries
#define HOOK_ENTRIES     hook_entries_cuda
#include "device_hook_table.h"

enum {
    UNMAPPED_MAX = 32,           /* of so many at once a refusal is taken back */
    WIDE_ADDRESSES_SINCE = 3020, /* before, the same names had other arguments */
    SECOND_QUERY_SINCE = 12000,  /* of cuGetProcAddress */
};

/* One call may unmap several neighbours. Returns how many endings were stored. */
static unsigned mappings_end(uint64_t address, size_t size, struct block_ending *endings)
{
    uint64_t end = address + size;
    struct device_block mapping;
    unsigned count = 0;

    do {
        struct block_ending unkept;
        struct block_ending *ending = count < UNMAPPED_MAX ? &endings[count++] : &unkept;

        if (!device_block_find(SPACE_CUDA_MAPPING, address, &mapping))
            mapping.size_bytes = end - address;
        device_block_end(SPACE_CUDA_MAPPING, address, &pool_cuda_mapping, ending);
        address += mapping.size_bytes;
    } while (mapping.size_bytes && address < end);
    return count;
}

HOOK_EXPORT int cuMemUnmap(uint64_t address, size_t size)
{
    int (*real)(uint64_t, size_t) = hook_real(&slots.cuMemUnmap);
    struct block_ending endings[UNMAPPED_MAX];
    unsigned count = 0;

    if (!real)
        return CUDA_STATUS_NOT_INITIALISED;
    bool is_outermost = device_hook_enter(LAYER_CUDA_DRIVER);
    if (is_outermost)
        count = mappings_end(address, size, endings);
    int status = real(address, size);
    if (is_outermost) {
        int saved_errno = errno;

        for (unsigned i = 0; status != 0 && i < count; i++)
            device_block_resume(&endings[i]);
        device_hook_leave(LAYER_CUDA_DRIVER, saved_errno);
    }
    return status;
}

/* Is `name` what the library calls the wanted variant of `symbol`? */
static bool is_variant(const char *name, const char *symbol, const char *suffix)
{
    size_t length = strlen(symbol);

    return strncmp(name, symbol, length) == 0 && strcmp(name + length, suffix) == 0;
}

static const struct hook_entry *entry_point_find(const char *symbol, const char *suffix)
{
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        if (is_variant(entries[i].name, symbol, suffix))
            return &entries[i];
    return NULL;
}

void cuda_entry_point_replace(const char *symbol, int version, uint64_t flags, void **function)
{
    const struct hook_entry *entry = NULL;
    void *expected = NULL;

    if (!symbol || !function || !*function || (version && version < WIDE_ADDRESSES_SINCE))
        return;
    if (strcmp(symbol, "cuGetProcAddress") == 0 && version && version < SECOND_QUERY_SINCE) {
        entry = entry_point_find(symbol, "");
    } else {
        if (flags & CUDA_PER_THREAD_STREAM)
            entry = entry_point_find(symbol, "_ptsz");
        if (!entry)
            entry = entry_point_find(symbol, "_v2");
        if (!entry)
            entry = entry_point_find(symbol, "");
    }
    if (!entry)
        return;
    atomic_compare_exchange_strong(&entry->slot->real, &expected, *function);
    *function = entry->wrapper;
}

HOOK_EXPORT int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    int (*real)(const char *, void **, int, uint64_t) = hook_real(&slots.cuGetProcAddress);
    int status = real ? real(symbol, function, version, flags) : CUDA_STATUS_NOT_INITIALISED;

    if (status == 0)
        cuda_entry_point_replace(symbol, version, flags, function);
    return status;
}

HOOK_EXPORT int cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                    uint64_t flags, int *result)
{
    int (*real)(const char *, void **, int, uint64_t, int *) =
        hook_real(&slots.cuGetProcAddress_v2);
    int status =
        real ? real(symbol, function, version, flags, result) : CUDA_STATUS_NOT_INITIALISED;

    if (status == 0)
        cuda_entry_point_replace(symbol, version, flags, function);
    return status;
}
