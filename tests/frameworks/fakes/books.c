/* SPDX-License-Identifier: Apache-2.0 */
/* Implements books.h with one hash table for a library. FAKE_BOOKS_NAME is what its file is called.
 */
#define _GNU_SOURCE
#include "books.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SLOTS = 1 << 18, PAGE_BYTES = 4096, DEFAULT_DEVICES = 2 };

static char gone; /* its address in a slot: a block was here */
static struct books_block table[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t live_bytes[BOOKS_DEVICES_MAX], peak_bytes[BOOKS_DEVICES_MAX], refused;
static uint64_t begun[BOOKS_KIND_COUNT], ended[BOOKS_KIND_COUNT];

static const bool takes_memory[] = {
#define X(name, takes) takes,
    BOOKS_KINDS(X)
#undef X
};

static uint64_t setting(const char *name, uint64_t default_value)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 0) : default_value;
}

int books_device_count(void)
{
    return (int)setting("FAKE_DEVICES", DEFAULT_DEVICES);
}

uint64_t books_capacity_bytes(void)
{
    return setting("FAKE_DEVICE_MEMORY", UINT64_C(64) << 30);
}

uint64_t books_live_bytes(int device)
{
    return live_bytes[device];
}

static size_t slot_of(const void *address)
{
    uint64_t hash = (uintptr_t)address;

    hash ^= hash >> 33;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    return (hash ^ hash >> 29) % SLOTS;
}

static struct books_block *find(enum books_kind kind, const void *address)
{
    for (size_t i = slot_of(address); table[i].address; i = (i + 1) % SLOTS)
        if (table[i].address == address && table[i].kind == kind)
            return &table[i];
    return NULL;
}

static bool take(enum books_kind kind, int device, uint64_t size_bytes)
{
    if (!takes_memory[kind])
        return true;
    if (live_bytes[device] + size_bytes > books_capacity_bytes()) {
        refused++;
        return false;
    }
    live_bytes[device] += size_bytes;
    if (live_bytes[device] > peak_bytes[device])
        peak_bytes[device] = live_bytes[device];
    return true;
}

static void put(struct books_block block)
{
    size_t i = slot_of(block.address);

    while (table[i].address && table[i].address != &gone)
        i = (i + 1) % SLOTS;
    table[i] = block;
    begun[block.kind]++;
}

static uint64_t whole_pages(uint64_t size_bytes)
{
    return (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static void *memory_map(uint64_t size_bytes)
{
    uint64_t whole = whole_pages(size_bytes);
    char *first = mmap(NULL, whole + BOOKS_ALIGNMENT, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uintptr_t start;

    if (first == MAP_FAILED)
        return NULL;
    start = ((uintptr_t)first + BOOKS_ALIGNMENT - 1) / BOOKS_ALIGNMENT * BOOKS_ALIGNMENT;
    if (start > (uintptr_t)first)
        munmap(first, start - (uintptr_t)first);
    if (start + whole < (uintptr_t)first + whole + BOOKS_ALIGNMENT)
        munmap((void *)(start + whole), (uintptr_t)first + BOOKS_ALIGNMENT - start);
    return (void *)start;
}

bool books_add(enum books_kind kind, int device, uint64_t size_bytes, void *address)
{
    bool has_room;

    pthread_mutex_lock(&lock);
    has_room = address && take(kind, device, size_bytes);
    if (has_room)
        put((struct books_block){address, size_bytes, device, kind});
    pthread_mutex_unlock(&lock);
    return has_room;
}

bool books_alloc(enum books_kind kind, int device, uint64_t size_bytes, void **address)
{
    void *memory = memory_map(size_bytes);

    if (!books_add(kind, device, size_bytes, memory)) {
        if (memory)
            munmap(memory, whole_pages(size_bytes));
        return false;
    }
    *address = memory;
    return true;
}

bool books_free(enum books_kind kind, void *address)
{
    struct books_block *block;

    pthread_mutex_lock(&lock);
    block = find(kind, address);
    if (block) {
        if (takes_memory[kind])
            live_bytes[block->device] -= block->size_bytes;
        if (kind != BOOKS_physical && kind != BOOKS_range && kind != BOOKS_mapping)
            munmap(address, whole_pages(block->size_bytes));
        ended[kind]++;
        block->address = &gone;
    }
    pthread_mutex_unlock(&lock);
    return block != NULL;
}

bool books_find(enum books_kind kind, const void *address, struct books_block *found)
{
    struct books_block *block;

    pthread_mutex_lock(&lock);
    block = find(kind, address);
    if (block)
        *found = *block;
    pthread_mutex_unlock(&lock);
    return block != NULL;
}

static bool holds(const struct books_block *block, const char *address)
{
    return block->address && block->address != &gone && block->kind != BOOKS_physical &&
           block->kind != BOOKS_range && address >= block->address &&
           address < block->address + block->size_bytes;
}

bool books_find_within(const void *address, struct books_block *found)
{
    bool is_found = false;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; !is_found && i < SLOTS; i++) {
        is_found = holds(&table[i], address);
        if (is_found)
            *found = table[i];
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

static void kinds_write(FILE *file)
{
    static const char *const names[] = {
#define X(name, takes) #name,
        BOOKS_KINDS(X)
#undef X
    };

    for (int kind = 0; kind < BOOKS_KIND_COUNT; kind++)
        fprintf(file, "\"%s\": {\"begun\": %" PRIu64 ", \"ended\": %" PRIu64 "}, ", names[kind],
                begun[kind], ended[kind]);
}

static bool was_used(void)
{
    for (int kind = 0; kind < BOOKS_KIND_COUNT; kind++)
        if (begun[kind])
            return true;
    return refused > 0;
}

__attribute__((destructor)) static void books_write(void)
{
    const char *folder = getenv("FAKE_BOOKS");
    char path[4096];
    FILE *file;

    if (!folder || !was_used())
        return;
    snprintf(path, sizeof(path), "%s/%s.json", folder, FAKE_BOOKS_NAME);
    file = fopen(path, "w");
    if (!file)
        return;
    fprintf(file, "{");
    kinds_write(file);
    fprintf(file, "\"refused\": %" PRIu64 ", \"devices\": [", refused);
    for (int device = 0; device < BOOKS_DEVICES_MAX; device++)
        fprintf(file, "%s{\"live\": %" PRIu64 ", \"peak\": %" PRIu64 "}", device ? ", " : "",
                live_bytes[device], peak_bytes[device]);
    fprintf(file, "]}\n");
    fclose(file);
}
