/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names as they were written: with the C++ library's own function, if there is one here. It is
 * looked for once; leaktide itself needs no C++.
 */
#include "demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef char *(*demangler)(const char *name, char *out, size_t *size_bytes, int *status);

static demangler demangler_find(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    demangler found = NULL;

    if (library)
        *(void **)&found = dlsym(library, "__cxa_demangle");
    return found;
}

char *demangle(const char *name)
{
    static demangler function;
    static bool is_looked_for;
    int status = 0;

    if (strncmp(name, "_Z", 2) != 0)
        return NULL;
    if (!is_looked_for) {
        function = demangler_find();
        is_looked_for = true;
    }
    return function ? function(name, NULL, NULL, &status) : NULL;
}
