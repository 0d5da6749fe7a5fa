/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a block of CUDA lives and which pool it belongs to.
 *
 * Devices are numbered as the program counts them: the driver does not know others.
 */
#ifndef LEAKTIDE_TRACER_CUDA_PLACES_H
#define LEAKTIDE_TRACER_CUDA_PLACES_H

#include "cuda_abi.h"
#include "device_blocks.h"

/* Pools; docs/pools.md says what each of them counts. */
extern const struct text pool_cuda, pool_cuda_host, pool_cuda_async, pool_cuda_virtual,
    pool_cuda_mapping, pool_cuda_import, pool_cuda_registered;
extern const struct text pool_cudart, pool_cudart_host, pool_cudart_async, pool_cudart_import,
    pool_cudart_registered;

/* On the device that the calling thread uses, as the driver or the runtime says. */
struct device_block cuda_origin(const struct text *pool, enum mt_place_kind kind, uint16_t flags);
struct device_block cudart_origin(const struct text *pool, enum mt_place_kind kind, uint16_t flags);
/* Memory of the host. */
struct device_block cuda_host_origin(const struct text *pool, uint16_t flags);
struct device_block cuda_property_origin(const struct cuda_memory_property *property);
struct device_block cuda_map_origin(uint64_t handle);

/* 0 where the format is not known. NULL is 0. */
uint64_t cuda_array_bytes(const struct cuda_array *array);
uint64_t cuda_array_3d_bytes(const struct cuda_array_3d *array);
uint64_t cuda_channels_bytes(const struct cuda_channels *channels, struct cuda_extent extent);

#endif
