/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenCL functions of a program that loads OpenCL for itself and calls through pointers: no
 * preloaded library sees these calls.
 */
#include "opencl_entry_points.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *find(const char *name)
{
    static void *library;

    if (!library)
        library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("no OpenCL: %s\n", dlerror());
        exit(77);
    }
    return dlsym(library, name);
}

#define UNPACK(...) __VA_ARGS__
#define ENTRY(result, name, arguments, ...)                                                        \
    __attribute__((visibility("hidden"))) result name(__VA_ARGS__)                                 \
    {                                                                                              \
        static result (*real)(__VA_ARGS__);                                                        \
        if (!real)                                                                                 \
            *(void **)&real = find(#name);                                                         \
        return real(UNPACK arguments);                                                             \
    }
OPENCL_ENTRY_POINTS(ENTRY)
#undef ENTRY
#undef UNPACK

__attribute__((visibility("hidden"))) void clSVMFree(cl_context context, void *address)
{
    void (*real)(cl_context, void *);

    *(void **)&real = find("clSVMFree");
    real(context, address);
}
