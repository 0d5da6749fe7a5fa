/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the library given as argument, which is linked with OpenCL, the way Python loads an
 * extension: RTLD_LOCAL. Then RTLD_NEXT does not find OpenCL.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*steps)(void);

    if (!plugin) {
        printf("no plugin: %s\n", dlerror());
        return 1;
    }
    *(void **)&steps = dlsym(plugin, "opencl_steps");
    return steps ? steps() : 1;
}
