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

/* The machine's number of the program's device; -1 for what is not visible. */
int32_t ascend_physical_device(int32_t device);

/* The machine's number of the device that this thread uses; -1 = none. */
int32_t ascend_current_device(void);

/* This thread uses the program's device `device` from here on. */
void ascend_device_is_set(int32_t device);

/*
 * Reads a list as in "4,5,7". Stops where the runtime stops: at the first word that is no number.
 * Returns how many numbers were stored.
 */
size_t ascend_device_list_get(const char *list, int32_t *devices, size_t devices_max);

#endif
