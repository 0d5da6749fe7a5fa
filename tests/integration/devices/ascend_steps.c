/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Five steps of a training-like program on an Ascend stack: weights, activations, pinned memory,
 * physical memory in a reserved range, a framework's pool, and one block a step that nobody frees.
 *
 * At the end it prints what it still holds, and what the fake driver has in its books:
 *
 *   left <pool> <address> <size>
 *   books <device> <bytes> <blocks>
 */
#include "ascend_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_ascend.h"
#include "mstx_client.h"

enum {
    STEPS = 5,
    ACTIVATIONS = 6,
    KIB = 1024,
    MIB = 1024 * KIB,
};

#define CHECK(call)                                                                                \
    do {                                                                                           \
        int check_status = (call);                                                                 \
        if (check_status != 0) {                                                                   \
            printf("%s: %d\n", #call, check_status);                                               \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static int failures;
static void *weights, *leaked[STEPS];

static void use_weights(void)
{
    CHECK(aclrtMalloc(&weights, 8 * MIB, ACL_POLICY_HUGE_ONLY));
}

static void use_activations(void)
{
    void *activations[ACTIVATIONS];

    for (int i = 0; i < ACTIVATIONS; i++)
        CHECK(aclrtMalloc(&activations[i], (size_t)(i + 1) * 256 * KIB, 0));
    for (int i = ACTIVATIONS - 1; i >= 0; i--)
        CHECK(aclrtFree(activations[i]));
}

static void forget_metrics(int step)
{
    CHECK(aclrtMalloc(&leaked[step], 48 * KIB, 0));
}

static void use_host_memory(void)
{
    void *pinned = NULL;

    CHECK(aclrtMallocHost(&pinned, 4 * KIB));
    CHECK(aclrtFreeHost(pinned));
}

static void use_virtual_memory(void)
{
    struct acl_physical_property property = {
        .memory_attribute = ACL_MEMORY_HBM_HUGE, .location = 0, .location_type = 1};
    void *handle = NULL, *again = NULL, *address = NULL;

    CHECK(aclrtMallocPhysical(&handle, 2 * MIB, &property, 0));
    CHECK(aclrtReserveMemAddress(&address, 16 * MIB, 0, NULL, 0));
    CHECK(aclrtMapMem(address, 2 * MIB, 0, handle, 0));
    CHECK(aclrtMemRetainAllocationHandle(address, &again));
    CHECK(aclrtFreePhysical(again));
    CHECK(aclrtFreePhysical(handle));
    CHECK(aclrtUnmapMem(address));
    CHECK(aclrtReleaseMemAddress(address));
}

static void ask_for_too_much(void)
{
    void *address = NULL;

    if (aclrtMalloc(&address, (size_t)1 << 45, 0) != RT_STATUS_OUT_OF_MEMORY)
        failures++;
}

static void free_what_is_not_there(void)
{
    if (aclrtFree((void *)0x1000) == 0)
        failures++;
}

/* As torch_npu tells of its caching allocator: fields it does not know are left as they are. */
static void use_framework_pool(void)
{
    void *domain = mstx.domain_create ? mstx.domain_create("msleaks") : NULL;
    struct mstx_virtual_range total = {0, weights, 8 * MIB}, block = {0, weights, 512};
    struct mstx_heap heap = {1234, 5678, &total};
    struct mstx_regions regions = {(void *)1, 99, 1, &block, (void **)1};
    struct mstx_region_reference reference = {.type = 0, .address = weights};
    struct mstx_region_references references = {1, &reference};

    if (!domain)
        return;
    mstx.mark("memscope-aten-b: name=aten::add", NULL);
    mstx.heap_register(domain, &heap);
    mstx.regions_register(domain, &regions);
    mstx.mark("memscope-aten-e: name=aten::add", NULL);
    mstx.heap_register(domain, &heap);
    mstx.regions_unregister(domain, &references);
}

static void launch_kernel(void)
{
    static char name[] = "add_kernel";

    CHECK(aclrtLaunchKernelWithConfig(name, 8, NULL, NULL, NULL, NULL));
}

/* STEP_PAUSE_MS: time to be looked at from outside. */
static void pause_between_steps(void)
{
    const char *pause_ms = getenv("STEP_PAUSE_MS");

    if (pause_ms)
        usleep((useconds_t)strtoul(pause_ms, NULL, 10) * 1000);
}

static void one_step(int step)
{
    uint64_t range = mstx.range_start ? mstx.range_start("step start", NULL) : 0;

    if (step == 0)
        use_weights();
    use_activations();
    forget_metrics(step);
    use_host_memory();
    use_virtual_memory();
    use_framework_pool();
    launch_kernel();
    if (step == 2) {
        ask_for_too_much();
        free_what_is_not_there();
    }
    if (mstx.range_end)
        mstx.range_end(range);
    pause_between_steps();
}

int ascend_steps(void)
{
    mstx_start();
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    for (int step = 0; step < STEPS; step++)
        one_step(step);
    printf("left acl %" PRIuPTR " %d\n", (uintptr_t)weights, 8 * MIB);
    for (int step = 0; step < STEPS; step++)
        printf("left acl %" PRIuPTR " %d\n", (uintptr_t)leaked[step], 48 * KIB);
    for (uint32_t device = 0; device < FAKE_DEVICES; device++)
        printf("books %u %" PRIu64 " %zu\n", device, fake_hal_device_bytes(device),
               fake_hal_device_blocks(device));
    CHECK(aclFinalize());
    return failures;
}
