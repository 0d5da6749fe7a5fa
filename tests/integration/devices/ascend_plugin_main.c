/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps, in a plug-in that brings the runtime along for itself only, as a Python extension
 * does: dlsym(RTLD_NEXT) of a preloaded library then finds nothing.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*steps)(void);

    if (!plugin) {
        fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: ascend_plugin_host PLUGIN");
        return EXIT_FAILURE;
    }
    *(void **)&steps = dlsym(plugin, "ascend_steps");
    return steps ? steps() : EXIT_FAILURE;
}
