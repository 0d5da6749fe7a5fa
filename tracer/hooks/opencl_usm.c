/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unified shared memory, recorded.
 *
 * Each platform has its own real functions; a call finds them by the platform of its context.
 * A program with more than PLATFORMS platforms gets the real functions of the others.
 * Source: cl_intel_unified_shared_memory, revision 1.0.
 */
#include "opencl_usm.h"

#include <stdatomic.h>
#include <string.h>

#include "leaktide/format.h"
#include "opencl_objects.h"
#include "recorder.h"

enum { PLATFORMS = 8 };

enum usm_function { HOST_ALLOC, DEVICE_ALLOC, SHARED_ALLOC, FREE, BLOCKING_FREE, FUNCTIONS };

typedef void *(*host_alloc)(cl_context context, const uint64_t *properties, size_t size_bytes,
                            cl_uint alignment, cl_int *errcode);
typedef void *(*device_alloc)(cl_context context, cl_device_id device, const uint64_t *properties,
                              size_t size_bytes, cl_uint alignment, cl_int *errcode);
typedef cl_int (*usm_free)(cl_context context, void *address);

struct usm_platform {
    _Atomic(cl_platform_id) id;
    _Atomic(const struct opencl_calls *) calls; /* of the way it was asked for; NULL: unused */
    _Atomic(void *) functions[FUNCTIONS];
};

static struct usm_platform platforms[PLATFORMS];

/* The entry of a platform: its own, or a free one. NULL when there is no more room. */
static struct usm_platform *platform_at(cl_platform_id id)
{
    if (!id)
        return &platforms[0]; /* that of the unknown platform */
    for (size_t i = 1; i < PLATFORMS; i++) {
        cl_platform_id seen = NULL;

        if (atomic_compare_exchange_strong(&platforms[i].id, &seen, id) || seen == id)
            return &platforms[i];
    }
    return NULL;
}

/* The real function behind a call, and the calls to ask with. */
static void *real_function(cl_context context, enum usm_function function,
                           const struct opencl_calls **real)
{
    void *found = NULL;

    for (size_t i = 0; i < PLATFORMS; i++) {
        const struct opencl_calls *calls = atomic_load(&platforms[i].calls);
        void *address = atomic_load(&platforms[i].functions[function]);
        cl_platform_id id = NULL;
        cl_device_id device;

        if (!calls || !address)
            continue;
        *real = calls;
        found = address;
        device = opencl_first_device(calls, context);
        if (device && calls->clGetDeviceInfo)
            calls->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(id), &id, NULL);
        if (id == atomic_load(&platforms[i].id))
            break;
    }
    return found;
}

static void *alloc_end(const struct opencl_call *call, cl_device_id device, uint8_t kind,
                       void *address, size_t size_bytes, cl_int status)
{
    if (call->is_recorded) {
        uint64_t place = opencl_place(device, kind, 0);

        if (address)
            record_alloc(pool_opencl, place, (uintptr_t)address, size_bytes,
                         recorder_site(LAYER_OPENCL, call->from));
        else
            record_alloc_failed(pool_opencl, place, size_bytes, (uint64_t)(int64_t)status,
                                recorder_site(LAYER_OPENCL, call->from));
    }
    opencl_call_end(call);
    return address;
}

static void *usm_host_alloc(cl_context context, const uint64_t *properties, size_t size_bytes,
                            cl_uint alignment, cl_int *errcode)
{
    const struct opencl_calls *real = NULL;
    host_alloc function = (host_alloc)real_function(context, HOST_ALLOC, &real);
    struct opencl_call call = opencl_call_begin(real, unwind_caller());
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    void *address = function(context, properties, size_bytes, alignment, status);

    return alloc_end(&call, opencl_first_device(real, context), MT_KIND_HOST, address, size_bytes,
                     *status);
}

static void *device_alloc_through(enum usm_function which, uint8_t kind,
                                  struct unwind_registers from, cl_context context,
                                  cl_device_id device, const uint64_t *properties,
                                  size_t size_bytes, cl_uint alignment, cl_int *errcode)
{
    const struct opencl_calls *real = NULL;
    device_alloc function = (device_alloc)real_function(context, which, &real);
    struct opencl_call call = opencl_call_begin(real, from);
    cl_int own_status = CL_SUCCESS;
    cl_int *status = errcode ? errcode : &own_status;
    void *address = function(context, device, properties, size_bytes, alignment, status);

    return alloc_end(&call, device ? device : opencl_first_device(real, context), kind, address,
                     size_bytes, *status);
}

static void *usm_device_alloc(cl_context context, cl_device_id device, const uint64_t *properties,
                              size_t size_bytes, cl_uint alignment, cl_int *errcode)
{
    return device_alloc_through(DEVICE_ALLOC, MT_KIND_DEVICE, unwind_caller(), context, device,
                                properties, size_bytes, alignment, errcode);
}

static void *usm_shared_alloc(cl_context context, cl_device_id device, const uint64_t *properties,
                              size_t size_bytes, cl_uint alignment, cl_int *errcode)
{
    return device_alloc_through(SHARED_ALLOC, MT_KIND_SHARED, unwind_caller(), context, device,
                                properties, size_bytes, alignment, errcode);
}

static cl_int free_through(enum usm_function which, struct unwind_registers from,
                           cl_context context, void *address)
{
    const struct opencl_calls *real = NULL;
    usm_free function = (usm_free)real_function(context, which, &real);
    struct opencl_call call = opencl_call_begin(real, from);
    cl_int status;

    if (call.is_recorded && address)
        record_free(pool_opencl, (uintptr_t)address);
    status = function(context, address);
    opencl_call_end(&call);
    return status;
}

static cl_int usm_free_now(cl_context context, void *address)
{
    return free_through(FREE, unwind_caller(), context, address);
}

static cl_int usm_free_blocking(cl_context context, void *address)
{
    return free_through(BLOCKING_FREE, unwind_caller(), context, address);
}

static const struct {
    const char *name;
    void *replacement;
} replacements[FUNCTIONS] = {
    [HOST_ALLOC] = {"clHostMemAllocINTEL", (void *)usm_host_alloc},
    [DEVICE_ALLOC] = {"clDeviceMemAllocINTEL", (void *)usm_device_alloc},
    [SHARED_ALLOC] = {"clSharedMemAllocINTEL", (void *)usm_shared_alloc},
    [FREE] = {"clMemFreeINTEL", (void *)usm_free_now},
    [BLOCKING_FREE] = {"clMemBlockingFreeINTEL", (void *)usm_free_blocking},
};

void *opencl_usm_replace(const struct opencl_calls *real, cl_platform_id id, const char *name,
                         void *address)
{
    if (!name || !address)
        return address;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        struct usm_platform *platform;

        if (strcmp(name, replacements[i].name) != 0)
            continue;
        if (address == replacements[i].replacement) /* it came through the layer already */
            return address;
        platform = platform_at(id);
        if (!platform)
            return address;
        atomic_store(&platform->calls, real);
        atomic_store(&platform->functions[i], address);
        return replacements[i].replacement;
    }
    return address;
}
