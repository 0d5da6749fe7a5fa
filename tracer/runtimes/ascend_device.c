/* SPDX-License-Identifier: Apache-2.0 */
/* Implements ascend_device.h and the Ascend half of device_memory.h. */
#include "ascend_device.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "ascend_abi.h"
#include "device_memory.h"
#include "hook.h"

enum { DEVICE_NUMBER_MAX = 9999 };

static const char *const acl_libraries[] = {"libacl_rt.so", "libascendcl.so", NULL};
static const char *const rt_libraries[] = {"libruntime.so", NULL};
static const char *const hal_libraries[] = {"libascend_hal.so", NULL};

static struct hook_slot acl_get_device = {"aclrtGetDevice", acl_libraries, NULL};
static struct hook_slot rt_get_device = {"rtGetDevice", rt_libraries, NULL};
static struct hook_slot acl_get_context = {"aclrtGetCurrentContext", acl_libraries, NULL};
static struct hook_slot acl_get_memory = {"aclrtGetMemInfo", acl_libraries, NULL};
static struct hook_slot hal_get_memory = {"halMemGetInfo", hal_libraries, NULL};

static _Atomic int32_t visible[DEVICES_MAX];
static _Atomic int32_t visible_count = -2; /* -2: not read yet; -1: no list, all are visible */
static _Atomic uint64_t devices_in_use;

static __thread int32_t device_of_thread __attribute__((tls_model("initial-exec"))) = -1;

size_t ascend_device_list_get(const char *list, int32_t *devices, size_t devices_max)
{
    size_t count = 0;

    while (count < devices_max) {
        int32_t number = 0;
        const char *digit = list;

        while (*digit >= '0' && *digit <= '9' && number <= DEVICE_NUMBER_MAX)
            number = number * 10 + (*digit++ - '0');
        if (digit == list || (*digit && *digit != ',') || number > DEVICE_NUMBER_MAX)
            break;
        devices[count++] = number;
        if (!*digit)
            break;
        list = digit + 1;
    }
    return count;
}

/* Two threads that come first together write the same. */
static int32_t visible_list_read(void)
{
    const char *list = getenv("ASCEND_RT_VISIBLE_DEVICES");
    int32_t devices[DEVICES_MAX];
    int32_t count = list ? (int32_t)ascend_device_list_get(list, devices, DEVICES_MAX) : -1;

    for (int32_t i = 0; i < count; i++)
        atomic_store_explicit(&visible[i], devices[i], memory_order_relaxed);
    atomic_store_explicit(&visible_count, count, memory_order_release);
    return count;
}

int32_t ascend_physical_device(int32_t device)
{
    int32_t count = atomic_load_explicit(&visible_count, memory_order_acquire);

    if (count == -2)
        count = visible_list_read();
    if (count == -1 || device < 0)
        return device;
    return device < count ? atomic_load_explicit(&visible[device], memory_order_relaxed) : -1;
}

int32_t ascend_current_device(void)
{
    int (*get)(int32_t *) = hook_asked(&acl_get_device);
    int32_t device = -1;

    if (!get)
        get = hook_asked(&rt_get_device);
    if (!get || get(&device) != 0)
        device = device_of_thread;
    return ascend_physical_device(device);
}

void ascend_device_is_set(int32_t device)
{
    int32_t physical = ascend_physical_device(device);

    device_of_thread = device;
    if (physical >= 0 && physical < DEVICES_MAX)
        atomic_fetch_or_explicit(&devices_in_use, UINT64_C(1) << physical, memory_order_relaxed);
    /* The libraries are loaded now, whatever was so before. */
    hook_ask_again(&acl_get_device);
    hook_ask_again(&rt_get_device);
    hook_ask_again(&acl_get_context);
    hook_ask_again(&acl_get_memory);
    hook_ask_again(&hal_get_memory);
}

uint64_t ascend_devices_in_use(void)
{
    return atomic_load_explicit(&devices_in_use, memory_order_relaxed);
}

/* The driver needs no context, so any thread may ask it. */
static bool driver_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    int (*get)(uint32_t, unsigned, struct hal_memory_info *) = hook_asked(&hal_get_memory);
    static const unsigned types[] = {HAL_INFO_HBM, HAL_INFO_DDR};

    for (size_t i = 0; get && i < sizeof(types) / sizeof(types[0]); i++) {
        struct hal_memory_info info = {0};

        if (get((uint32_t)device, types[i], &info) == 0 && info.normal_total + info.huge_total) {
            *free_bytes = info.normal_free + info.huge_free;
            *total_bytes = info.normal_total + info.huge_total;
            return true;
        }
    }
    return false;
}

/* The runtime answers for the device of the calling thread, and might give it one: ask first. */
static bool runtime_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    int (*get_context)(void **) = hook_asked(&acl_get_context);
    int (*get)(int, size_t *, size_t *) = hook_asked(&acl_get_memory);
    static const int attributes[] = {ACL_MEMORY_HBM, ACL_MEMORY_DDR};
    void *context = NULL;

    if (!get || !get_context || get_context(&context) != 0 || !context ||
        ascend_current_device() != device)
        return false;
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        size_t free_size = 0, total_size = 0;

        if (get(attributes[i], &free_size, &total_size) == 0 && total_size) {
            *free_bytes = free_size;
            *total_bytes = total_size;
            return true;
        }
    }
    return false;
}

bool ascend_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    if (device < 0 || device >= DEVICES_MAX || !(ascend_devices_in_use() >> device & 1))
        return false;
    return driver_memory_info(device, free_bytes, total_bytes) ||
           runtime_memory_info(device, free_bytes, total_bytes);
}
