/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that looks whether there is an Ascend or CUDA runtime, on a machine without one. Under
 * a tracer the names are there; the calls must answer that the runtime is not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static void ask(const char *name)
{
    int (*call)(void *, uint64_t, uint64_t, uint64_t);
    char nothing[64] = "";

    *(void **)&call = dlsym(RTLD_DEFAULT, name);
    if (call)
        printf("%s %d\n", name, call(nothing, 64, 0, 0));
}

int main(void)
{
    static const char *const names[] = {
        "halMemAlloc",    "halMemFree",     "halMemCreate", "aclInit",
        "aclrtSetDevice", "aclrtMalloc",    "aclrtFree",    "rtMalloc",
        "rtFree",         "rtKernelLaunch", "cudaMalloc",   "cudaFree",
        "cuMemAlloc_v2",  "cuMemFree_v2",   "cuMemUnmap",   "cuMemRelease"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ask(names[i]);
    return 0;
}
