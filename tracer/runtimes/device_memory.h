/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a device has left, as its own runtime says it: for device_counters.c.
 *
 * Nothing here loads a library, starts a runtime or creates a context: a device is asked only
 * when the program has used it (our hooks saw it) and the libraries that can tell are loaded.
 * All functions may be called from any thread, also from one that never used a device.
 */
#ifndef LEAKTIDE_TRACER_DEVICE_MEMORY_H
#define LEAKTIDE_TRACER_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum { DEVICES_MAX = 64 };

/* Bit n: the program has used device n, so its memory can be asked for. */
uint64_t ascend_devices_in_use(void);
uint64_t cuda_devices_in_use(void);

/*
 * device  as in the places of our records: physical for Ascend, as the program counts for CUDA
 *
 * False when nobody can tell; the outputs are then left alone.
 */
bool ascend_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes);
bool cuda_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes);

#endif
