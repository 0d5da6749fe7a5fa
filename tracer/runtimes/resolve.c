/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the real functions.
 *
 * dlsym(RTLD_NEXT) alone is not enough: it does not see a runtime that a Python extension loaded
 * with RTLD_LOCAL, although the calls of that extension do reach our wrapper. Then the loaded
 * library is asked by its soname, then by the name of its file.
 *
 * Invariant: what is found is never a function of our own object, so a wrapper cannot call itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "hook.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "loader_error.h"

static char absent; /* its address in a slot: looked for, not there */

/* Our object as it is mapped; given by the linker. dladdr would look at each of its names. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

bool hook_is_ours(const void *address)
{
    return (uintptr_t)address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

/* The oldest version of each: it is in all C libraries that we can be loaded with. */
#if defined(__aarch64__)
#define DLSYM_VERSION "GLIBC_2.17"
#else
#define DLSYM_VERSION "GLIBC_2.2.5"
#endif

void *hook_dlsym(void)
{
    static _Atomic(void *) found;
    void *real = atomic_load_explicit(&found, memory_order_acquire);

    if (!real) {
        real = dlvsym(RTLD_NEXT, "dlsym", DLSYM_VERSION);
        atomic_store_explicit(&found, real, memory_order_release);
    }
    return real;
}

void *hook_symbol_in(void *library, const char *name)
{
    void *(*find)(void *, const char *) = hook_dlsym();

    return find(library, name);
}

static void *find_in_library(const char *name, const char *soname, int flags)
{
    void *library = dlopen(soname, flags);
    void *address;

    if (!library)
        return NULL;
    address = hook_symbol_in(library, name);
    if (address && hook_is_ours(address))
        address = NULL;
    /* Only a look: whoever loaded it keeps it. What we load ourselves stays for good. */
    if (flags & RTLD_NOLOAD || !address)
        dlclose(library);
    return address;
}

static void *find_in_libraries(const char *name, const char *const *libraries, int flags)
{
    void *address = NULL;

    for (size_t i = 0; !address && libraries[i]; i++)
        address = find_in_library(name, libraries[i], flags);
    return address;
}

struct path_search {
    const char *file;
    char path[PATH_MAX];
};

static int path_compare(struct dl_phdr_info *info, size_t size, void *data)
{
    struct path_search *search = data;
    const char *slash = strrchr(info->dlpi_name, '/');
    size_t length = strlen(info->dlpi_name);

    (void)size;
    if (!slash || strcmp(slash + 1, search->file) != 0 || length >= sizeof(search->path))
        return 0;
    memcpy(search->path, info->dlpi_name, length + 1);
    return 1;
}

/* A library without a soname, loaded by its path, is not known to the loader under its name. */
static void *find_by_file_name(const char *name, const char *const *libraries)
{
    void *address = NULL;

    for (size_t i = 0; !address && libraries[i]; i++) {
        struct path_search search = {.file = libraries[i], .path = ""};

        if (dl_iterate_phdr(path_compare, &search))
            address = find_in_library(name, search.path, RTLD_LAZY | RTLD_NOLOAD);
    }
    return address;
}

static void *find_loaded(const char *name, const char *const *libraries)
{
    void *address = dlsym(RTLD_NEXT, name);

    if (address && !hook_is_ours(address))
        return address;
    address = find_in_libraries(name, libraries, RTLD_LAZY | RTLD_NOLOAD);
    return address ? address : find_by_file_name(name, libraries);
}

void *hook_resolve(struct hook_slot *slot)
{
    int saved_errno = errno;
    void *address = find_loaded(slot->name, slot->libraries);

    if (!address)
        address = find_in_libraries(slot->name, slot->libraries, RTLD_LAZY | RTLD_LOCAL);
    if (address)
        atomic_store_explicit(&slot->real, address, memory_order_release);
    else
        loader_error_forget(); /* so that the program does not read our failure as its own */
    errno = saved_errno;
    return address;
}

void *hook_find(const char *name, const char *const *libraries)
{
    int saved_errno = errno;
    void *address = find_loaded(name, libraries);

    if (!address)
        loader_error_forget();
    errno = saved_errno;
    return address;
}

void *hook_asked(struct hook_slot *slot)
{
    void *address = atomic_load_explicit(&slot->real, memory_order_acquire);

    if (!address) {
        address = hook_find(slot->name, slot->libraries);
        atomic_store_explicit(&slot->real, address ? address : &absent, memory_order_release);
    }
    return address == &absent ? NULL : address;
}

void hook_ask_again(struct hook_slot *slot)
{
    void *expected = &absent;

    atomic_compare_exchange_strong_explicit(&slot->real, &expected, NULL, memory_order_acq_rel,
                                            memory_order_relaxed);
}
