/* SPDX-License-Identifier: Apache-2.0 */
/* python_embedding LIBPYTHON SOURCE: runs Python text in a library that it opens. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    void (*initialize)(void);
    int (*run)(const char *), (*finalize)(void);

    if (!library) {
        fprintf(stderr, "usage: python_embedding LIBPYTHON SOURCE\n");
        return 2;
    }
    *(void **)&initialize = dlsym(library, "Py_Initialize");
    *(void **)&run = dlsym(library, "PyRun_SimpleString");
    *(void **)&finalize = dlsym(library, "Py_FinalizeEx");
    if (!initialize || !run || !finalize)
        return 2;
    initialize();
    if (run(argv[2]) != 0)
        return 1;
    return finalize() == 0 ? 0 : 1;
}
