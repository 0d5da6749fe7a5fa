/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References per handle, in a fixed table.
 *
 * Invariant: an entry with a handle belongs to that handle until its last release; the program
 * may not use a handle after it, so nobody looks for it while it goes.
 */
#include "opencl_references.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { ENTRIES = 4096, PROBES = 32 };

struct entry {
    _Atomic(const void *) handle;
    atomic_long references;
};

static struct entry entries[ENTRIES];
static atomic_long followed_count; /* most programs have none: one load and we are done */

static struct entry *entry_at(const void *handle, size_t probe)
{
    uint64_t hash = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);

    return &entries[((hash >> 32) + probe) % ENTRIES];
}

static struct entry *entry_find(const void *handle)
{
    if (atomic_load(&followed_count) == 0)
        return NULL;
    for (size_t probe = 0; probe < PROBES; probe++) {
        struct entry *entry = entry_at(handle, probe);

        if (atomic_load(&entry->handle) == handle)
            return entry;
    }
    return NULL;
}

bool opencl_references_add(const void *handle)
{
    for (size_t probe = 0; probe < PROBES; probe++) {
        struct entry *entry = entry_at(handle, probe);
        const void *nothing = NULL;

        if (!atomic_compare_exchange_strong(&entry->handle, &nothing, handle))
            continue;
        atomic_store(&entry->references, 1);
        atomic_fetch_add(&followed_count, 1);
        return true;
    }
    return false;
}

void opencl_references_retain(const void *handle)
{
    struct entry *entry = entry_find(handle);

    if (entry)
        atomic_fetch_add(&entry->references, 1);
}

bool opencl_references_release(const void *handle)
{
    struct entry *entry = entry_find(handle);

    if (!entry || atomic_fetch_sub(&entry->references, 1) != 1)
        return false;
    atomic_fetch_sub(&followed_count, 1);
    atomic_store(&entry->handle, NULL);
    return true;
}
