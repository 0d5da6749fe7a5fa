/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory from whatever this machine has: OpenCL, AscendCL, or a pool of our own in host
 * memory. The vendors' libraries are found at run time; nothing of them is needed to build.
 *
 * device_alloc is part of the function that calls it, so that this function is the site of the
 * block in a trace: leaktide knows the caller of the vendor's function.
 */
#ifndef LEAK_SAMPLE_DEVICE_H
#define LEAK_SAMPLE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaktide/tracer.h"
#include "pool.h"

enum device_kind { DEVICE_OPENCL, DEVICE_ASCEND, DEVICE_POOL };

struct device {
    enum device_kind kind;
    const char *name;
    void *context; /* OpenCL's */
    void *(*create_buffer)(void *context, uint64_t flags, size_t size_bytes, void *host,
                           int32_t *status);
    int32_t (*release_buffer)(void *buffer);
    int (*ascend_malloc)(void **address, size_t size_bytes, int policy);
    int (*ascend_free)(void *address);
};

extern struct device device;

/* name is "opencl", "ascend" or "pool"; NULL takes the first that works. False: not here. */
bool device_open(const char *name);
void device_close(void);

/* NULL when the device has no more. */
__attribute__((always_inline)) static inline void *device_alloc(size_t size_bytes)
{
    void *address = NULL;

    switch (device.kind) {
    case DEVICE_OPENCL:
        return device.create_buffer(device.context, 1 /* read and write */, size_bytes, NULL, NULL);
    case DEVICE_ASCEND:
        return device.ascend_malloc(&address, size_bytes, 0 /* huge pages first */) ? NULL
                                                                                    : address;
    case DEVICE_POOL:
        break;
    }
    address = pool_take(size_bytes);
    mt_pool_alloc(POOL_NAME, 0, address, size_bytes);
    return address;
}

/* NULL is allowed. */
static inline void device_free(void *address)
{
    if (!address)
        return;
    switch (device.kind) {
    case DEVICE_OPENCL:
        device.release_buffer(address);
        return;
    case DEVICE_ASCEND:
        device.ascend_free(address);
        return;
    case DEVICE_POOL:
        break;
    }
    mt_pool_free(POOL_NAME, address);
    pool_give_back(address);
}

#endif
