/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Ascend device is meant.
 *
 * Programs count the devices that ASCEND_RT_VISIBLE_DEVICES leaves them; the driver counts those
 * of the machine. Records name the machine's, so that the ledgers of driver, runtime and
 * frameworks meet.
 */
#ifndef LEAKTIDE_TRACER_ASCEND_DEVICE_H
#define LEAKTIDE_TRACER_ASCEND_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hook.h"

/* The machine's number of the program's device; -1 for what is not visible. */
int32_t ascend_physical_device(int32_t device);

/* The machine's number of the device that this thread uses; -1 = none. */
int32_t ascend_current_device(void);

/*
 * A call that names a device, of aclrt* or rt*: made, and recorded as what it is. begins_use: the
 * thread uses the program's device `device` from here on.
 */
int ascend_device_call(struct hook_slot *slot, int32_t device, bool begins_use);

/*
 * Reads a list as in "4,5,7". Stops where the runtime stops: at the first word that is no number.
 * Returns how many numbers were stored.
 */
size_t ascend_device_list_get(const char *list, int32_t *devices, size_t devices_max);

#endif
