/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings that the program makes itself: mapped_regions.h.
 *
 * What allocators map on behalf of malloc is counted there. Mappings that nobody may touch are
 * address space, not memory; those of devices are their drivers'.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "guard.h"
#include "hook.h"
#include "mapped_regions.h"
#include "python_heap.h"
#include "recording.h"
#include "shared_names.h"
#include "thread_state.h"

HOOK_EXPORT void *mmap(void *address, size_t size, int protection, int flags, int descriptor,
                       off_t offset);
HOOK_EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int descriptor,
                         off64_t offset);
HOOK_EXPORT int munmap(void *address, size_t size);
HOOK_EXPORT void *mremap(void *address, size_t old_size, size_t new_size, int flags, ...);

/* <linux/magic.h> */
enum { MAGIC_TMPFS = 0x01021994, MAGIC_HUGETLBFS = (int)0x958458f6 };

static void *real_mmap(void *address, size_t size, int protection, int flags, int descriptor,
                       off64_t offset)
{
    return (void *)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}

static uint64_t whole_pages(uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    return (size + page - 1) / page * page;
}

/* The memory of such a file is no page cache that could be written back. */
static bool is_in_memory(int descriptor)
{
    struct statfs system;

    return fstatfs(descriptor, &system) == 0 &&
           ((int)system.f_type == MAGIC_TMPFS || (int)system.f_type == MAGIC_HUGETLBFS);
}

/* False: it is not recorded. */
static bool kind_of(int flags, int descriptor, enum region_kind *kind)
{
    bool is_shared = (flags & MAP_TYPE) != MAP_PRIVATE;
    struct stat status;

    *kind = is_shared ? REGION_SHARED : REGION_ANONYMOUS;
    if (flags & MAP_ANONYMOUS)
        return true;
    if (recording_makes_no_calls() || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    if (is_shared && is_in_memory(descriptor))
        shared_name_sized(&status);
    else
        *kind = REGION_FILE;
    return true;
}

/* result: MAP_FAILED where there was no memory for it. */
static void region_is_at(struct region *region, void *result, size_t size,
                         struct unwind_registers from)
{
    region->begin = result == MAP_FAILED ? 0 : (uintptr_t)result;
    region->end = region->begin + size;
    region->site = regions_site(from);
    if (result == MAP_FAILED)
        regions_refused(region);
    else
        regions_remember(*region);
}

/* What fails for another reason, as a wrong argument, or as nobody has set huge pages aside, was
 * not refused for want of memory. */
static bool is_told(const void *result, int flags, int error)
{
    return result != MAP_FAILED || (error == ENOMEM && !(flags & MAP_HUGETLB));
}

static void *map_and_record(void *address, size_t size, int protection, int flags, int descriptor,
                            off64_t offset, struct unwind_registers from)
{
    uint32_t inside = thread_state.inside & (1u << LAYER_HOST | 1u << LAYER_PYTHON);
    bool is_recorded = regions_enter();
    struct region region = {.is_untouchable = protection == PROT_NONE};
    void *result;
    int error;

    if (is_recorded && flags & MAP_FIXED)
        regions_forget((uintptr_t)address, (uintptr_t)address + whole_pages(size));
    result = real_mmap(address, size, protection, flags, descriptor, offset);
    error = errno;
    if (is_recorded) {
        /* What an allocator gets is counted as its blocks; that it is refused is told. */
        if ((!inside || result == MAP_FAILED) && is_told(result, flags, error) &&
            kind_of(flags, descriptor, &region.kind))
            region_is_at(&region, result, size, from);
        regions_leave();
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
    uint64_t begin = (uintptr_t)address, end = begin + whole_pages(size);
    bool is_recorded = begin == whole_pages(begin) && !regions_is_empty() && regions_enter();
    int result, error;

    if (is_recorded)
        regions_forget(begin, end);
    result = (int)syscall(SYS_munmap, address, size);
    error = errno;
    if (is_recorded)
        regions_leave();
    errno = error;
    return result;
}

void *mremap(void *address, size_t old_size, size_t new_size, int flags, ...)
{
    bool is_recorded = !regions_is_empty() && regions_enter();
    void *wanted = NULL, *result;
    struct region region;
    va_list arguments;
    int error;

    va_start(arguments, flags);
    if (flags & MREMAP_FIXED)
        wanted = va_arg(arguments, void *);
    va_end(arguments);
    result = (void *)syscall(SYS_mremap, address, old_size, new_size, flags, wanted);
    error = errno;
    if (is_recorded) {
        if (is_told(result, 0, error) && regions_find((uintptr_t)address, &region)) {
            if (result != MAP_FAILED)
                regions_forget((uintptr_t)address, (uintptr_t)address + whole_pages(old_size));
            if (result != MAP_FAILED && wanted)
                regions_forget((uintptr_t)wanted, (uintptr_t)wanted + whole_pages(new_size));
            region_is_at(&region, result, new_size, unwind_caller());
        }
        regions_leave();
    }
    errno = error;
    return result;
}
