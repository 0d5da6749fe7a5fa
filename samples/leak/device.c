/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a device. Functions are looked up for the whole program (RTLD_DEFAULT), so that a
 * preloaded tracer is found first, as it is by a program linked with the vendor's library.
 */
#include "device.h"

#include <stdio.h>
#include <string.h>

struct device device = {.kind = DEVICE_POOL, .name = "pool"};

static bool library_open(const char *const *names)
{
    for (; *names; names++)
        if (dlopen(*names, RTLD_NOW | RTLD_GLOBAL))
            return true;
    return false;
}

/* Stores a function; false when the library lacks it. */
static bool function_find(void *function, const char *name)
{
    return (*(void **)function = dlsym(RTLD_DEFAULT, name)) != NULL;
}

/* The first device of the first platform that has one. */
static void *opencl_context_create(void)
{
    static const uint64_t any_type = 0xFFFFFFFF;
    int32_t (*platforms_get)(uint32_t room, void **platforms, uint32_t *count);
    int32_t (*devices_get)(void *platform, uint64_t type, uint32_t room, void **devices,
                           uint32_t *count);
    void *(*context_create)(const intptr_t *properties, uint32_t count, void *const *devices,
                            void *notify, void *user, int32_t *status);
    void *platforms[8], *first_device;
    uint32_t count = 0;

    if (!function_find(&platforms_get, "clGetPlatformIDs") ||
        !function_find(&devices_get, "clGetDeviceIDs") ||
        !function_find(&context_create, "clCreateContext") ||
        platforms_get(8, platforms, &count) != 0)
        return NULL;
    for (uint32_t i = 0; i < count && i < 8; i++)
        if (devices_get(platforms[i], any_type, 1, &first_device, NULL) == 0)
            return context_create(NULL, 1, &first_device, NULL, NULL, NULL);
    return NULL;
}

static bool opencl_open(void)
{
    static const char *const names[] = {"libOpenCL.so.1", NULL};

    if (!library_open(names) || !function_find(&device.create_buffer, "clCreateBuffer") ||
        !function_find(&device.release_buffer, "clReleaseMemObject"))
        return false;
    device.context = opencl_context_create();
    return device.context != NULL;
}

static bool ascend_open(void)
{
    static const char *const names[] = {"libacl_rt.so", "libascendcl.so", NULL};
    int (*init)(const char *config);
    int (*set_device)(int32_t index);

    return library_open(names) && function_find(&init, "aclInit") &&
           function_find(&set_device, "aclrtSetDevice") &&
           function_find(&device.ascend_malloc, "aclrtMalloc") &&
           function_find(&device.ascend_free, "aclrtFree") && init(NULL) == 0 && set_device(0) == 0;
}

static bool pool_open(void)
{
    return true;
}

static const struct {
    const char *name;
    enum device_kind kind;
    bool (*open)(void);
} devices[] = {
    {"ascend", DEVICE_ASCEND, ascend_open},
    {"opencl", DEVICE_OPENCL, opencl_open},
    {"pool", DEVICE_POOL, pool_open},
};

bool device_open(const char *name)
{
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        if (name && strcmp(name, devices[i].name) != 0)
            continue;
        if (!devices[i].open())
            continue;
        device.kind = devices[i].kind;
        device.name = devices[i].name;
        return true;
    }
    return false;
}

void device_close(void)
{
    int32_t (*context_release)(void *context);
    int (*finalize)(void);

    if (device.kind == DEVICE_OPENCL && function_find(&context_release, "clReleaseContext"))
        context_release(device.context);
    if (device.kind == DEVICE_ASCEND && function_find(&finalize, "aclFinalize"))
        finalize();
}
