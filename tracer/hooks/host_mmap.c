/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anonymous mappings that the program makes itself: pool "mmap".
 *
 * Files are not memory that leaks, and what allocators map on behalf of malloc is counted there. A
 * mapping may be cut anywhere by munmap or replaced by MAP_FIXED, so the recorded ones are kept in
 * a table; what is left of a cut one is recorded as a block of its own. Mappings that nobody may
 * touch are address space, not memory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_stacks.h"
#include "config.h"
#include "guard.h"
#include "hook.h"
#include "private_heap.h"
#include "python_heap.h"
#include "recorder.h"

enum { REGIONS_MAX = 1 << 16 };

HOOK_EXPORT void *mmap(void *address, size_t size, int protection, int flags, int descriptor,
                       off_t offset);
HOOK_EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int descriptor,
                         off64_t offset);
HOOK_EXPORT int munmap(void *address, size_t size);
HOOK_EXPORT void *mremap(void *address, size_t old_size, size_t new_size, int flags, ...);

struct region {
    uint64_t begin, end, place;
    struct call_site site;
};

/* By begin, the highest first, without overlaps; changed by whoever holds the lock. The kernel maps
 * downward, so a new one comes last. */
static struct region *regions;
static size_t region_count, region_capacity;
static _Atomic pid_t lock_owner; /* the process, so that a child knows a lock it only inherited */

static POOL(pool, "mmap");

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

static void unlock(void)
{
    atomic_store_explicit(&lock_owner, 0, memory_order_release);
}

static void *real_mmap(void *address, size_t size, int protection, int flags, int descriptor,
                       off64_t offset)
{
    return (void *)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
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

static void region_record(struct region region)
{
    record_alloc(pool, region.place, region.begin, region.end - region.begin, region.site);
}

/* [begin, end) is no longer what it was: ends the blocks there, and begins what is left of them. */
static void range_forget(uint64_t begin, uint64_t end)
{
    size_t index = regions_above(begin);

    while (index > 0 && regions[index - 1].begin < end) {
        struct region old = regions[--index];
        struct region left = old, right = old;

        left.end = begin;
        right.begin = end;
        record_free(pool, old.begin);
        region_remove(index);
        if (left.begin < left.end && region_insert(index, left))
            region_record(left);
        if (right.begin < right.end && region_insert(index, right))
            region_record(right);
    }
}

static void range_remember(uint64_t begin, size_t size, int protection, struct call_site site)
{
    struct region region = {.begin = begin, .end = begin + size, .site = site};

    region.place = mt_place_pack((struct mt_place){
        .device = -1, .module = -1, .flags = protection == PROT_NONE ? MT_PLACE_VIRTUAL : 0});
    if (region_insert(regions_above(begin), region))
        region_record(region);
}

/*
 * malloc of the program's own may map memory for itself, and so may Python's allocator; only calls
 * that nobody else's hook is around of are the program's.
 */
static bool mapping_enter(void)
{
    const struct config *config = config_if_read();

    if (!config || !config->records_host || !guard_enter(LAYER_HOST))
        return false;
    lock();
    return true;
}

static void mapping_leave(void)
{
    unlock();
    guard_leave(LAYER_HOST);
}

static struct call_site mapping_site(struct unwind_registers from)
{
    struct thread_state *thread = &thread_state;
    bool is_wanted = config_get()->has_host_stacks && call_stacks_are_on();

    return call_stacks_site(thread, is_wanted ? call_stacks_capture(thread, &from) : 0, from.pc);
}

static void *map_and_record(void *address, size_t size, int protection, int flags, int descriptor,
                            off64_t offset, struct unwind_registers from)
{
    bool is_wanted = flags & MAP_ANONYMOUS;
    uint32_t inside = thread_state.inside & (1u << LAYER_HOST | 1u << LAYER_PYTHON);
    bool is_recorded = (is_wanted || flags & MAP_FIXED) && mapping_enter();
    void *result;
    int error;

    if (is_recorded && flags & MAP_FIXED)
        range_forget((uintptr_t)address, (uintptr_t)address + size);
    result = real_mmap(address, size, protection, flags, descriptor, offset);
    error = errno;
    if (is_recorded) {
        if (is_wanted && !inside && result != MAP_FAILED)
            range_remember((uintptr_t)result, size, protection, mapping_site(from));
        mapping_leave();
    }
    if (flags & MAP_ANONYMOUS && !inside)
        python_heap_mapped(from.pc, size);
    errno = error;
    return result;
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset)
{
    return map_and_record(address, size, protection, flags, descriptor, offset, unwind_caller());
}

void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off64_t offset)
{
    return map_and_record(address, size, protection, flags, descriptor, offset, unwind_caller());
}

int munmap(void *address, size_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin = (uintptr_t)address, end = begin + (size + page - 1) / page * page;
    bool is_recorded = begin % page == 0 && end > begin && region_count && mapping_enter();
    int result, error;

    if (is_recorded)
        range_forget(begin, end);
    result = (int)syscall(SYS_munmap, address, size);
    error = errno;
    if (is_recorded)
        mapping_leave();
    errno = error;
    return result;
}

void *mremap(void *address, size_t old_size, size_t new_size, int flags, ...)
{
    bool is_recorded = region_count && mapping_enter();
    void *wanted = NULL, *result;
    va_list arguments;
    size_t index;
    int protection = PROT_READ | PROT_WRITE, error;

    va_start(arguments, flags);
    if (flags & MREMAP_FIXED)
        wanted = va_arg(arguments, void *);
    va_end(arguments);
    result = (void *)syscall(SYS_mremap, address, old_size, new_size, flags, wanted);
    error = errno;
    if (is_recorded) {
        index = regions_above((uintptr_t)address);
        if (result != MAP_FAILED && index > 0 && regions[index - 1].begin <= (uintptr_t)address) {
            range_forget((uintptr_t)address, (uintptr_t)address + old_size);
            if (wanted)
                range_forget((uintptr_t)wanted, (uintptr_t)wanted + new_size);
            range_remember((uintptr_t)result, new_size, protection, mapping_site(unwind_caller()));
        }
        mapping_leave();
    }
    errno = error;
    return result;
}
