/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a PyTorch program: tensors on two devices and on the host, mapped storages, a profiler
 * that runs for some of the steps, and a device and a host that are full in the end. Prints what is
 * left, as ascend_steps.c does.
 */
#include <inttypes.h>
#include <stdio.h>

#include "fake_c10.h"
#include "fake_cuda.h"

enum { STEPS = 6, KIB = 1024, TENSOR = 96 * KIB, HOST_TENSOR = 40 * KIB, MAPPED = 16 * KIB };

static volatile size_t more_than_there_is = (size_t)1 << 50;
static void *leaked[FAKE_CUDA_DEVICES][STEPS], *leaked_on_host[STEPS], *leaked_mapping;

static void use_temporaries(int device)
{
    void *first = fake_c10_device_alloc(device, TENSOR), *second;

    second = fake_c10_device_alloc(device, 700 * KIB);
    fake_c10_device_free(device, first);
    fake_c10_device_free(device, second);
}

static void use_host(void)
{
    void *tensor = fake_c10_host_alloc(HOST_TENSOR);
    void *batch = fake_c10_mapped_alloc(MAPPED);

    fake_c10_mapped_free(batch, MAPPED);
    fake_c10_host_free(tensor, HOST_TENSOR);
}

static void remember(int step)
{
    for (int device = 0; device < FAKE_CUDA_DEVICES; device++)
        leaked[device][step] = fake_c10_device_alloc(device, TENSOR);
    leaked_on_host[step] = fake_c10_host_alloc(HOST_TENSOR);
}

static void print_left(int device)
{
    for (int step = 0; step < STEPS; step++)
        printf("left torch %" PRIuPTR " %d\n", (uintptr_t)leaked[device][step], TENSOR);
    printf("books %d %" PRIu64 " %d\n", device, fake_c10_device_used(device), STEPS);
    printf("reserved %d %" PRIu64 "\n", device, fake_c10_device_reserved(device));
}

int main(void)
{
    for (int step = 0; step < STEPS; step++) {
        fake_c10_profile(step == 2 || step == 3);
        for (int device = 0; device < FAKE_CUDA_DEVICES; device++)
            use_temporaries(device);
        use_host();
        remember(step);
    }
    leaked_mapping = fake_c10_mapped_alloc(MAPPED);
    for (int device = 0; device < FAKE_CUDA_DEVICES; device++)
        print_left(device);
    for (int step = 0; step < STEPS; step++)
        printf("left torch_cpu %" PRIuPTR " %d\n", (uintptr_t)leaked_on_host[step], HOST_TENSOR);
    printf("left torch_cpu %" PRIuPTR " %d\n", (uintptr_t)leaked_mapping, MAPPED);
    if (fake_c10_device_alloc(1, 4 * FAKE_C10_SEGMENT_BYTES) || fake_c10_npu_refuse(77) != 77 ||
        fake_c10_host_alloc(more_than_there_is))
        return 1;
    printf("reports %u\n", fake_c10_reports());
    return 0;
}
