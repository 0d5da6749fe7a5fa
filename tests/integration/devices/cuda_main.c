/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three steps on a CUDA stack: buffers, stream-ordered memory, physical memory asked for through
 * the driver's functions by name. One buffer a step stays. Prints as ascend_steps.c does.
 */
#include <inttypes.h>
#include <stdio.h>

#include "fake_cuda.h"

enum { STEPS = 3, KIB = 1024, MIB = 1024 * KIB };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        int check_status = (call);                                                                 \
        if (check_status != 0) {                                                                   \
            printf("%s: %d\n", #call, check_status);                                               \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static int failures;
static void *leaked[STEPS];

static void use_buffers(void)
{
    void *buffer = NULL, *async = NULL, *host = NULL;

    CHECK(cudaMalloc(&buffer, 4 * MIB));
    CHECK(cudaMallocAsync(&async, 64 * KIB, NULL));
    CHECK(cudaMallocHost(&host, 8 * KIB));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFreeAsync(async, NULL));
    CHECK(cudaFree(buffer));
}

static void use_expandable_memory(void)
{
    int (*create)(uint64_t *, size_t, const struct cuda_memory_property *, unsigned long long);
    int (*release)(uint64_t);
    struct cuda_memory_property property = {.type = 1, .location_type = 1, .location = 0};
    uint64_t handle = 0, address = 0;
    int result;

    CHECK(cudaGetDriverEntryPoint("cuMemCreate", (void **)&create, 0, &result));
    CHECK(cudaGetDriverEntryPoint("cuMemRelease", (void **)&release, 0, &result));
    CHECK(create(&handle, 2 * MIB, &property, 0));
    CHECK(cuMemAddressReserve(&address, 2 * MIB, 0, 0, 0));
    CHECK(cuMemMap(address, 2 * MIB, 0, handle, 0));
    CHECK(release(handle));
    CHECK(cuMemUnmap(address, 2 * MIB));
    CHECK(cuMemAddressFree(address, 2 * MIB));
}

static void forget_buffer(int step)
{
    CHECK(cudaMalloc(&leaked[step], 48 * KIB));
}

int main(void)
{
    CHECK(cudaSetDevice(0));
    for (int step = 0; step < STEPS; step++) {
        use_buffers();
        use_expandable_memory();
        forget_buffer(step);
    }
    for (int step = 0; step < STEPS; step++)
        printf("left cudart %" PRIuPTR " %d\n", (uintptr_t)leaked[step], 48 * KIB);
    printf("books 0 %" PRIu64 " %zu\n", fake_cuda_device_bytes(0), fake_cuda_device_blocks(0));
    return failures;
}
