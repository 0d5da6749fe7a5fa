/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements memory_failures.h. The linker gives calls of malloc() to __wrap_malloc(), and those of
 * __real_malloc() to malloc().
 */
#define _GNU_SOURCE
#include "memory_failures.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_size_t failures;

size_t memory_failure_count(void)
{
    return atomic_load_explicit(&failures, memory_order_relaxed);
}

void memory_failure_note(void)
{
    atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
}

enum mt_result memory_status(size_t before, struct mt_error *error)
{
    if (memory_failure_count() == before)
        return MT_OK;
    return mt_error_set(error, MT_NO_MEMORY, "no memory: what was found is not whole");
}

/* --- what the linker puts in the place of the C library's --------------------------------------
 */

static void *noted(void *block)
{
    if (!block)
        memory_failure_note();
    return block;
}

/* Of functions that fail for other reasons, too. */
static void *noted_if_memory(void *made)
{
    if (!made && errno == ENOMEM)
        memory_failure_note();
    return made;
}

#define WRAPPED(result, name, parameters, arguments, check)                                        \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        return check(__real_##name arguments);                                                     \
    }

WRAPPED(void *, malloc, (size_t size_bytes), (size_bytes), noted)
WRAPPED(void *, strdup, (const char *text), (text), noted)
WRAPPED(void *, strndup, (const char *text, size_t most_bytes), (text, most_bytes), noted)
WRAPPED(void *, fopen, (const char *path, const char *mode), (path, mode), noted_if_memory)
WRAPPED(void *, fdopen, (int descriptor, const char *mode), (descriptor, mode), noted_if_memory)
WRAPPED(void *, fmemopen, (void *bytes, size_t size_bytes, const char *mode),
        (bytes, size_bytes, mode), noted_if_memory)
WRAPPED(void *, opendir, (const char *path), (path), noted_if_memory)
WRAPPED(void *, realpath, (const char *path, char *resolved), (path, resolved), noted_if_memory)

#undef WRAPPED

/* Of no size, some C libraries answer NULL. */
void *__real_calloc(size_t count, size_t size_bytes);
void *__wrap_calloc(size_t count, size_t size_bytes);
void *__wrap_calloc(size_t count, size_t size_bytes)
{
    void *block = __real_calloc(count, size_bytes);

    return count && size_bytes ? noted(block) : block;
}

void *__real_realloc(void *block, size_t size_bytes);
void *__wrap_realloc(void *block, size_t size_bytes);
void *__wrap_realloc(void *block, size_t size_bytes)
{
    void *moved = __real_realloc(block, size_bytes);

    return size_bytes ? noted(moved) : moved;
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments);
int __real_vasprintf(char **text, const char *format, va_list arguments);
int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
    int length = __real_vasprintf(text, format, arguments);

    if (length < 0)
        memory_failure_note();
    return length;
}

int __wrap_asprintf(char **text, const char *format, ...);
int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = __wrap_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

int __real_scandir(const char *folder, struct dirent ***names,
                   int (*is_wanted)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **));
int __wrap_scandir(const char *folder, struct dirent ***names,
                   int (*is_wanted)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **));
int __wrap_scandir(const char *folder, struct dirent ***names,
                   int (*is_wanted)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **))
{
    int count = __real_scandir(folder, names, is_wanted, compare);

    if (count < 0 && errno == ENOMEM)
        memory_failure_note();
    return count;
}
