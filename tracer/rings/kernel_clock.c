/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

typedef int clock_function(clockid_t clock, struct timespec *now);

#if defined(__x86_64__)
static const char name[] = "__vdso_clock_gettime";
#else
static const char name[] = "__kernel_clock_gettime";
#endif

static int call_kernel(clockid_t clock, struct timespec *now)
{
    return (int)syscall(SYS_clock_gettime, clock, now);
}

/* What the kernel has mapped as it is linked, at `base`, is moved by as much as its first segment.
 */
struct image {
    const char *base;
    uintptr_t moved;
    const Elf64_Dyn *dynamic;
};

static struct image image_at(const char *base)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(base + header->e_phoff);
    struct image image = {.base = base};

    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD)
            image.moved = (uintptr_t)base + segments[i].p_offset - segments[i].p_vaddr;
        if (segments[i].p_type == PT_DYNAMIC)
            image.dynamic = (const Elf64_Dyn *)(base + segments[i].p_offset);
    }
    return image;
}

/* The names of an image of the kernel come right after its symbols. */
static clock_function *find_in(const struct image *image)
{
    const Elf64_Sym *symbols = NULL;
    const char *names = NULL;

    for (const Elf64_Dyn *entry = image->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            symbols = (const Elf64_Sym *)(image->moved + entry->d_un.d_ptr);
        if (entry->d_tag == DT_STRTAB)
            names = (const char *)(image->moved + entry->d_un.d_ptr);
    }
    for (; names && symbols && (const char *)(symbols + 1) <= names; symbols++)
        if (symbols->st_shndx != SHN_UNDEF && strcmp(names + symbols->st_name, name) == 0)
            return (clock_function *)(image->moved + symbols->st_value);
    return NULL;
}

static clock_function *find(void)
{
    const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
    struct image image;
    clock_function *found = NULL;

    if (base) {
        image = image_at(base);
        found = find_in(&image);
    }
    return found ? found : call_kernel;
}

uint64_t clock_now_ns(clockid_t clock)
{
    static clock_function *_Atomic found;
    clock_function *function = found;
    struct timespec now = {0};

    if (!function)
        found = function = find();
    function(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
