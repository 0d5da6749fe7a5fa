/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names as they were written: with the C++ library's own function, if there is one here. It is
 * looked for once; leaktide itself needs no C++.
 */
#include "demangle.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "memory_failures.h"

enum { no_memory_status = -1 }; /* of __cxa_demangle */

typedef char *(*demangler)(const char *name, char *out, size_t *size_bytes, int *status);

static demangler found; /* NULL: there is none */

static void demangler_find(void)
{
    void *library;

    errno = 0;
    library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (!library && errno == ENOMEM)
        memory_failure_note();
    if (library)
        *(void **)&found = dlsym(library, "__cxa_demangle");
}

char *demangle(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *demangled;
    int status = 0;

    if (strncmp(name, "_Z", 2) != 0)
        return NULL;
    pthread_once(&once, demangler_find);
    demangled = found ? found(name, NULL, NULL, &status) : NULL;
    if (status == no_memory_status)
        memory_failure_note();
    return demangled;
}
