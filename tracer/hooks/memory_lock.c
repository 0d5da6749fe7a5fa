/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mlockall of a program that may lock only so much (RLIMIT_MEMLOCK): the kernel counts all that is
 * mapped, and what the recorder has mapped is more than such a limit allows. Where it says no,
 * the program's own memory is locked, mapping by mapping, if that alone is within the limit.
 *
 * Only enters the kernel, and reads its list of mappings there: no heap, 1 KiB of stack.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap_memory.h"
#include "hook.h"
#include "leaktide/preload.h"
#include "leaktide/rings.h"
#include "own_memory.h"
#include "recording.h"

HOOK_EXPORT int mlockall(int flags);

enum { READ_BYTES = 512, NAME_MAX_BYTES = 32, PERMISSIONS = 4 };

/* A list of mappings that is being read. */
struct maps {
    int file;
    ssize_t at, size;
    char bytes[READ_BYTES];
};

struct mapping {
    uint64_t start, end;
    bool is_accessible;        /* pages of it can be had */
    char name[NAME_MAX_BYTES]; /* the last part of its path, as far as there is room */
};

/* -1: the end. */
static int next_char(struct maps *maps)
{
    if (maps->at == maps->size) {
        maps->at = 0;
        maps->size = syscall(SYS_read, maps->file, maps->bytes, sizeof(maps->bytes));
        if (maps->size <= 0) {
            maps->size = 0;
            return -1;
        }
    }
    return (unsigned char)maps->bytes[maps->at++];
}

/* A hexadecimal number and the character after it. */
static uint64_t next_number(struct maps *maps)
{
    uint64_t number = 0;
    int c;

    while ((c = next_char(maps)) >= 0) {
        if (c >= '0' && c <= '9')
            number = number * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            number = number * 16 + (uint64_t)(c - 'a' + 10);
        else
            break;
    }
    return number;
}

/* The rest of a line. */
static void read_name(struct maps *maps, char *name)
{
    size_t length = 0;
    int c;

    while ((c = next_char(maps)) >= 0 && c != '\n') {
        if (c == '/')
            length = 0;
        else if (length < NAME_MAX_BYTES - 1)
            name[length++] = (char)c;
    }
    name[length] = '\0';
}

static bool mapping_next(struct maps *maps, struct mapping *mapping)
{
    mapping->start = next_number(maps);
    mapping->end = next_number(maps);
    mapping->is_accessible = false;
    for (int i = 0; i < PERMISSIONS; i++) {
        int c = next_char(maps);

        mapping->is_accessible |= i < PERMISSIONS - 1 && c != '-';
    }
    read_name(maps, mapping->name);
    return mapping->end > mapping->start;
}

static bool is_of_recorder(const char *name)
{
    return strncmp(name, MT_TRACER_FILE_NAME, strlen(MT_TRACER_FILE_NAME)) == 0 ||
           mt_is_name_of_rings(name);
}

/* The program's part of [*from, mapping->end), from the first that is not ours; false: none. */
static bool part_next(const struct mapping *mapping, uint64_t *from, struct own_range *part)
{
    struct own_range ours;

    while (*from < mapping->end) {
        bool has_ours = own_memory_next(*from, mapping->end, &ours);

        *part = (struct own_range){*from, has_ours ? ours.start : mapping->end};
        *from = has_ours ? ours.end : mapping->end;
        if (part->start < part->end)
            return true;
    }
    return false;
}

/* Each part of the program's own memory; returns how large they are together. */
static uint64_t
each_part(void (*visit)(const struct own_range *part, bool is_accessible, int flags), int flags)
{
    struct maps maps = {
        .file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    struct mapping mapping;
    struct own_range part;
    uint64_t bytes = 0;

    if (maps.file < 0)
        return UINT64_MAX;
    while (mapping_next(&maps, &mapping)) {
        uint64_t from = mapping.start;

        if (is_of_recorder(mapping.name) || mapping.start > INTPTR_MAX)
            continue;
        while (part_next(&mapping, &from, &part)) {
            bytes += part.end - part.start;
            if (visit)
                visit(&part, mapping.is_accessible, flags);
        }
    }
    syscall(SYS_close, maps.file);
    return bytes;
}

/* As mlockall does: what cannot be locked (a device, pages that nobody may touch) is passed over.
 */
static void lock(const struct own_range *part, bool is_accessible, int flags)
{
    bool is_on_fault = !is_accessible || (flags & MCL_ONFAULT);

    syscall(SYS_mlock2, part->start, part->end - part->start, is_on_fault ? MLOCK_ONFAULT : 0);
}

static bool lock_own(int flags)
{
    struct rlimit limit;

    heap_memory_note_variables(); /* nothing may have been recorded yet */
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || each_part(NULL, flags) > limit.rlim_cur)
        return false;
    each_part(lock, flags);
    return !(flags & MCL_FUTURE) || syscall(SYS_mlockall, flags & ~MCL_CURRENT) == 0;
}

int mlockall(int flags)
{
    int before = errno;

    if (syscall(SYS_mlockall, flags) == 0)
        return 0;
    if (errno == ENOMEM && (flags & MCL_CURRENT) && !recording_makes_no_calls()) {
        if (lock_own(flags)) {
            errno = before;
            return 0;
        }
        errno = ENOMEM;
    }
    return -1;
}
