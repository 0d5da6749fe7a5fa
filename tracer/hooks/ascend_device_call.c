/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that name a device: aclrtSetDevice and its like, of both runtimes.
 */
#include "ascend_device_call.h"

#include <errno.h>

#include "ascend_abi.h"
#include "ascend_device.h"
#include "device_blocks.h"

int ascend_device_call(struct hook_slot *slot, int32_t device, bool begins_use)
{
    int (*real)(int32_t) = hook_real(slot);

    if (!real)
        return RT_STATUS_NOT_SUPPORTED;
    bool is_outermost = device_hook_enter(LAYER_RUNTIME);
    int status = real(device);

    if (is_outermost) {
        int saved_errno = errno;
        struct mt_place place = {.device = ascend_physical_device(device), .module = -1};

        if (status == 0 && begins_use)
            ascend_device_is_set(device);
        record_device_event(text_of(slot->name), mt_place_pack(place), (uint32_t)status);
        device_hook_leave(LAYER_RUNTIME, saved_errno);
    }
    return status;
}
