/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that say which Ascend device a thread means.
 */
#ifndef LEAKTIDE_TRACER_ASCEND_DEVICE_CALL_H
#define LEAKTIDE_TRACER_ASCEND_DEVICE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "hook.h"

/*
 * A call that names a device, of aclrt* or rt*: made, and recorded as what it is. begins_use: the
 * thread uses the program's device `device` from here on.
 */
int ascend_device_call(struct hook_slot *slot, int32_t device, bool begins_use);

#endif
