/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload_library COUNT LIBRARY...: loads the libraries in turn, allocates in each, unloads it: that
 * often. They come to the same addresses again and again. Between two, as many blocks are made
 * here.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { OWN_BLOCKS = 16 };

static int use_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    void (*use)(size_t) = NULL;

    if (library)
        *(void **)&use = dlsym(library, "allocate_everywhere");
    if (!use) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    use(64);
    return dlclose(library) != 0;
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? atol(argv[1]) : 0;

    for (long i = 0; i < count; i++) {
        if (use_library(argv[2 + i % (argc - 2)]) != 0)
            return 1;
        for (int block = 0; block < OWN_BLOCKS; block++)
            free(malloc(32));
    }
    return 0;
}
