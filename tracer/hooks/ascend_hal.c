/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of Ascend's driver, made from ascend_hal.def.
 *
 * The driver also exports halMemAllocInner and its kin, which skip a lock: they are not ours to
 * call. An internal call of the driver between two of its own functions counts once.
 */
#include "ascend_places.h"

static const char *const hal_libraries[] = {"libascend_hal.so", NULL};

#define HOOK_TABLE       "ascend_hal.def"
#define HOOK_STATUS      int
#define HOOK_UNAVAILABLE DRV_STATUS_NOT_SUPPORTED
#define HOOK_LAYER       LAYER_DRIVER
#define HOOK_LIBRARIES   hal_libraries
#define HOOK_ENTRIES     hook_entries_hal
#include "device_hook_table.h"
