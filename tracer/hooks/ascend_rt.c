/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks of Ascend's runtime, made from ascend_rt.def. */
#include "ascend_device.h"
#include "ascend_device_call.h"
#include "ascend_places.h"

static const char *const rt_libraries[] = {"libruntime.so", NULL};

#define HOOK_TABLE       "ascend_rt.def"
#define HOOK_STATUS      int
#define HOOK_UNAVAILABLE RT_STATUS_NOT_SUPPORTED
#define HOOK_LAYER       LAYER_RUNTIME
#define HOOK_LIBRARIES   rt_libraries
#define HOOK_ENTRIES     hook_entries_rt
#include "device_hook_table.h"

HOOK_EXPORT int rtSetDevice(int32_t device)
{
    return ascend_device_call(&slots.rtSetDevice, device, true);
}

HOOK_EXPORT int rtDeviceReset(int32_t device)
{
    return ascend_device_call(&slots.rtDeviceReset, device, false);
}
