/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical memory that is named by handles and mapped into reserved addresses, as the drivers of
 * Ascend and CUDA have it.
 *
 * A piece lives while its handle has references or mappings. Exported, it can be imported under a
 * handle of its own, which is one more holder.
 */
#ifndef LEAKTIDE_FAKE_PHYSICAL_H
#define LEAKTIDE_FAKE_PHYSICAL_H

#include "fake_memory.h"

enum fake_result { FAKE_OK, FAKE_INVALID, FAKE_FULL };

/* Before anything else, so that two drivers in one program do not use the same numbers. */
void fake_physical_start_at(uint64_t first_handle, uint64_t first_address);

/* Memory of one device: `memory` counts the bytes; handles are numbers of it. */
enum fake_result fake_physical_create(struct fake_memory *memory, uint64_t size_bytes,
                                      uint64_t *handle);
enum fake_result fake_physical_release(uint64_t handle);
enum fake_result fake_physical_retain_at(uint64_t address, uint64_t *handle);
enum fake_result fake_physical_export(uint64_t handle, uint64_t *shared);
enum fake_result fake_physical_import(uint64_t shared, uint64_t *handle);

enum fake_result fake_virtual_reserve(uint64_t size_bytes, uint64_t alignment, uint64_t *address);
enum fake_result fake_virtual_free(uint64_t address);
enum fake_result fake_virtual_map(uint64_t address, uint64_t size_bytes, uint64_t handle);
enum fake_result fake_virtual_unmap(uint64_t address);

size_t fake_physical_count(void);
size_t fake_virtual_count(void);
size_t fake_mapping_count(void);

#endif
