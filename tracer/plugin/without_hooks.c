/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tracer has from its hooks, for one that hooks no function: nobody sees the program use a
 * CUDA device, or make shared memory.
 */
#include "device_memory.h"
#include "shared_names.h"

uint64_t cuda_devices_in_use(void)
{
    return 0;
}

bool cuda_memory_info(int device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    (void)device;
    (void)free_bytes;
    (void)total_bytes;
    return false;
}

void shared_names_end(void)
{
}
