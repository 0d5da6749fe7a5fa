/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "mapped_regions.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "call_stacks.h"
#include "config.h"
#include "guard.h"
#include "private_heap.h"
#include "recorder.h"

enum { REGIONS_MAX = 1 << 16 };

/* By begin, the highest first, without overlaps; changed by whoever holds the lock. The kernel maps
 * downward, so a new one comes last. */
static struct region *regions;
static size_t region_count, region_capacity;
static _Atomic pid_t lock_owner; /* the process, so that a child knows a lock it only inherited */

static POOL(anonymous, "mmap");
static POOL(shared, "shared_memory");
static POOL(file, "mapped_file");
static const struct text *const pools[REGION_KIND_COUNT] = {&anonymous, &shared, &file};

static void lock(void)
{
    pid_t own = getpid();

    for (;;) {
        pid_t owner = atomic_load_explicit(&lock_owner, memory_order_relaxed);

        if (owner != own && atomic_compare_exchange_weak(&lock_owner, &owner, own)) {
            if (owner) { /* the table was being changed when this child was forked */
                regions = NULL;
                region_count = region_capacity = 0;
            }
            return;
        }
        sched_yield();
    }
}

/*
 * malloc of the program's own may map memory for itself, and so may Python's allocator; only calls
 * that nobody else's hook is around of are the program's.
 */
bool regions_enter(void)
{
    const struct config *config = config_if_read();

    if (!config || !config->records_host || !guard_enter(LAYER_HOST))
        return false;
    lock();
    return true;
}

void regions_leave(void)
{
    atomic_store_explicit(&lock_owner, 0, memory_order_release);
    guard_leave(LAYER_HOST);
}

bool regions_is_empty(void)
{
    return !region_count;
}

/* How many regions end after the address: the last of these is the lowest. */
static size_t regions_above(uint64_t address)
{
    size_t low = 0, high = region_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (regions[middle].end > address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool region_insert(size_t index, struct region region)
{
    if (region_count == region_capacity) {
        size_t capacity = region_capacity ? 2 * region_capacity : 64;
        struct region *more;

        if (capacity > REGIONS_MAX)
            return false;
        more = mt_je_realloc(regions, capacity * sizeof(*regions));
        if (!more)
            return false;
        regions = more;
        region_capacity = capacity;
    }
    memmove(&regions[index + 1], &regions[index], (region_count - index) * sizeof(*regions));
    regions[index] = region;
    region_count++;
    return true;
}

static void region_remove(size_t index)
{
    region_count--;
    memmove(&regions[index], &regions[index + 1], (region_count - index) * sizeof(*regions));
}

static uint64_t place_of(const struct region *region)
{
    bool is_memory = region->kind != REGION_FILE && !region->is_untouchable;

    return mt_place_pack(
        (struct mt_place){.device = -1, .module = -1, .flags = is_memory ? 0 : MT_PLACE_VIRTUAL});
}

static void region_record(const struct region *region)
{
    record_alloc(*pools[region->kind], place_of(region), region->begin, region->end - region->begin,
                 region->site);
}

void regions_refused(const struct region *region)
{
    record_host_refused(*pools[region->kind], place_of(region), region->end - region->begin,
                        region->site);
}

void regions_forget(uint64_t begin, uint64_t end)
{
    size_t index = regions_above(begin);

    while (begin < end && index > 0 && regions[index - 1].begin < end) {
        struct region old = regions[--index];
        struct region left = old, right = old;

        left.end = begin;
        right.begin = end;
        record_free(*pools[old.kind], old.begin);
        region_remove(index);
        if (left.begin < left.end && region_insert(index, left))
            region_record(&left);
        if (right.begin < right.end && region_insert(index, right))
            region_record(&right);
    }
}

void regions_remember(struct region region)
{
    regions_forget(region.begin, region.end); /* unmapped in a way that is not seen */
    if (region.begin < region.end && region_insert(regions_above(region.begin), region))
        region_record(&region);
}

bool regions_find(uint64_t address, struct region *found)
{
    size_t index = regions_above(address);

    if (!index || regions[index - 1].begin > address)
        return false;
    *found = regions[index - 1];
    return true;
}

struct call_site regions_site(struct unwind_registers from)
{
    struct thread_state *thread = &thread_state;
    bool is_wanted = config_get()->has_host_stacks && call_stacks_are_on();

    return call_stacks_site(thread, is_wanted ? call_stacks_capture(thread, &from) : 0, from.pc);
}
