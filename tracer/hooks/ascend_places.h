/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a block of an Ascend runtime lives and which pool it belongs to, read from the arguments
 * of the call that made it. Pure functions: none of them touches a device.
 *
 * Device numbers are physical, as in the driver's own flags; ascend_device.h translates.
 */
#ifndef LEAKTIDE_TRACER_ASCEND_PLACES_H
#define LEAKTIDE_TRACER_ASCEND_PLACES_H

#include "ascend_abi.h"
#include "device_blocks.h"

/* Pools; docs/pools.md says what each of them counts. */
extern const struct text pool_hal, pool_hal_host, pool_hal_virtual, pool_hal_mapping,
    pool_hal_import, pool_hal_registered, pool_hal_buff;
extern const struct text pool_acl, pool_acl_host, pool_acl_virtual, pool_acl_mapping,
    pool_acl_import, pool_acl_registered, pool_acl_async;

/* Driver. A NULL property is memory of which nothing is known. */
struct device_block hal_origin(uint64_t flag);
struct device_block hal_property_origin(const struct hal_memory_property *property);
struct device_block hal_reserve_origin(uint64_t flag);
struct device_block hal_map_origin(const void *handle);
struct device_block hal_import_origin(int32_t device);
struct device_block hal_register_origin(int32_t device);
struct device_block hal_buffer_origin(void);

/* Runtime. `device` is what the calling thread uses; a configuration may name another. */
struct device_block acl_origin(uint32_t policy, const struct acl_malloc_config *config,
                               int32_t device);
struct device_block acl_host_origin(const struct acl_malloc_config *config);
struct device_block acl_managed_origin(int32_t module, int32_t device);
struct device_block acl_physical_origin(const struct acl_physical_property *property);
struct device_block acl_async_origin(int32_t device);
struct device_block acl_virtual_origin(int32_t device);
struct device_block acl_map_origin(const void *handle);
struct device_block acl_import_origin(int32_t device);
struct device_block acl_register_origin(int32_t device);
struct device_block rt_origin(uint32_t type, uint16_t module, int32_t device);
struct device_block rt_host_origin(uint16_t module);
struct device_block rt_dvpp_origin(uint16_t module, int32_t device);
struct device_block rt_physical_origin(const struct hal_memory_property *property);

#endif
