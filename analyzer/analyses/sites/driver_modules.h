/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the Ascend driver's modules, by number.
 *
 * Source: the module list of the Ascend driver's logging interface, as npu_module_mem shows it.
 */
#ifndef LEAKTIDE_ANALYSES_DRIVER_MODULES_H
#define LEAKTIDE_ANALYSES_DRIVER_MODULES_H

#include <stdint.h>

/* NULL when the number has no name. */
const char *driver_module_name(uint32_t number);

#endif
