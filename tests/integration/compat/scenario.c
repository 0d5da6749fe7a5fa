/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program behind the reference recordings of msmemscope, on the fake Ascend stack: one thread,
 * one device, every pool that the tool knows, one leak in a pool and one of the driver.
 */
#include <inttypes.h>
#include <stdio.h>

#include "fake_ascend.h"
#include "mstx_client.h"

enum { KIB = 1024, MIB = 1024 * KIB, STEPS = 4 };

/* The caching pool of PyTorch: block n of step s. */
#define BLOCK(s, n) (UINT64_C(0x12c050000000) + ((uint64_t)(s) << 24) + ((uint64_t)(n) << 16))

static int failures;
static void *pta, *workspace, *mindspore, *atb;
static void *hal_a, *hal_b, *hal_c, *hal_h;

static void check(int status, const char *call)
{
    if (status != 0) {
        printf("%s: %d\n", call, status);
        failures++;
    }
}

static unsigned long long driver_flag(unsigned long long module, unsigned kind, unsigned page)
{
    return module << HAL_MODULE_SHIFT | (unsigned long long)kind << HAL_KIND_SHIFT |
           (unsigned long long)page << HAL_PAGE_SHIFT;
}

/* --- what a framework tells ---------------------------------------------------------------------
 */

static void operator_begin(const char *name)
{
    char message[128];

    snprintf(message, sizeof(message), "memscope-aten-b: name=%s", name);
    mstx.mark(message, NULL);
}

static void operator_end(const char *name)
{
    char message[128];

    snprintf(message, sizeof(message), "memscope-aten-e: name=%s", name);
    mstx.mark(message, NULL);
}

static void use(const char *name, uint64_t address, uint64_t size_bytes, int writes)
{
    char message[256];

    snprintf(message, sizeof(message),
             "memscope-aten-ac:ptr=%" PRIu64 ";is_write=%s;is_read=%s;is_output=%s;name=%s;"
             "shape=torch.Size([2, 3]);dtype=torch.float32;tensor_size=%" PRIu64 ";device=npu:0",
             address, writes ? "True" : "False", writes ? "False" : "True",
             writes ? "True" : "False", name, size_bytes);
    mstx.mark(message, NULL);
}

static void heap(void *domain, uint64_t size_bytes)
{
    struct mstx_virtual_range range = {0, (void *)BLOCK(0, 0), size_bytes};
    struct mstx_heap heap = {.range = &range};

    mstx.heap_register(domain, &heap);
}

static void region(void *domain, uint64_t address, uint64_t size_bytes)
{
    struct mstx_virtual_range range = {0, (void *)(uintptr_t)address, size_bytes};
    struct mstx_regions regions = {.count = 1, .ranges = &range};

    mstx.regions_register(domain, &regions);
}

static void region_end(void *domain, uint64_t address)
{
    struct mstx_region_reference reference = {.address = (void *)(uintptr_t)address};
    struct mstx_region_references references = {1, &reference};

    mstx.regions_unregister(domain, &references);
}

static void take(uint64_t address, uint64_t size_bytes)
{
    heap(pta, 20 * MIB);
    region(pta, address, size_bytes);
}

static void give_back(uint64_t address)
{
    heap(pta, 20 * MIB);
    region_end(pta, address);
}

/* --- the story ----------------------------------------------------------------------------------
 */

static void use_driver(void)
{
    struct hal_memory_property property = {
        .side = 1, .device = 0, .module = 48, .page = HAL_PAGE_HUGE};

    check(halMemAlloc(&hal_a, 2 * MIB, driver_flag(7, HAL_KIND_DEVICE, HAL_PAGE_HUGE)), "A");
    check(halMemAlloc(&hal_b, 4 * KIB, driver_flag(33, HAL_KIND_DEVICE, HAL_PAGE_NORMAL)), "B");
    check(halMemAlloc(&hal_c, 8 * KIB, driver_flag(7, HAL_KIND_HOST, HAL_PAGE_NORMAL)), "C");
    check(halMemCreate(&hal_h, 4 * MIB, &property, 0), "H");
}

static void one_step(int step)
{
    uint64_t first = BLOCK(step, 0), second = BLOCK(step, 1);
    uint64_t range = mstx.range_start("step start", NULL);

    operator_begin("aten.mm.default");
    take(first, 512);
    use("aten.mm.default", first, 512, 1);
    operator_end("aten.mm.default");
    operator_begin("aten.add.Tensor");
    take(second, 1024);
    use("aten.add.Tensor", first, 512, 0);
    use("aten.add.Tensor", second, 1024, 1);
    operator_end("aten.add.Tensor");
    give_back(first);
    if (step != 2)
        give_back(second);
    mstx.range_end(range);
}

static void take_in(const char *name, uint64_t address, uint64_t size_bytes, int writes)
{
    operator_begin(name);
    take(address, size_bytes);
    if (writes)
        use(name, address, size_bytes, 1);
    operator_end(name);
}

static void use_badly(void)
{
    uint64_t early = BLOCK(9, 0), late = BLOCK(10, 0), other = BLOCK(11, 0), last = BLOCK(12, 0);

    take_in("aten.empty.memory_format", early, 4096, 0);
    take_in("aten.randn.default", other, 512, 1);
    operator_begin("aten.free_like.default");
    give_back(other);
    operator_end("aten.free_like.default");
    operator_begin("aten.fill_.Scalar");
    use("aten.fill_.Scalar", early, 4096, 1);
    operator_end("aten.fill_.Scalar");
    take_in("aten.ones.default", late, 8192, 1);
    take_in("aten.zeros.default", last, 512, 1);
    operator_begin("aten.relu.default");
    use("aten.relu.default", last, 512, 0);
    operator_end("aten.relu.default");
    give_back(late);
    give_back(early);
    give_back(last);
}

static void use_other_pools(void)
{
    struct mstx_virtual_range ranges[2] = {{0, (void *)BLOCK(15, 0), 1000},
                                           {0, (void *)(BLOCK(15, 0) + 4096), 2000}};
    void *handles[2] = {NULL, NULL};
    struct mstx_regions regions = {.count = 2, .ranges = ranges, .handles = handles};
    struct mstx_region_reference references[2];
    struct mstx_region_references both = {2, references};

    heap(workspace, MIB);
    region(workspace, BLOCK(13, 0), 64 * KIB);
    region_end(workspace, BLOCK(13, 0));
    region(mindspore, BLOCK(14, 0), 2 * KIB);
    heap(mindspore, 32 * MIB);
    region_end(mindspore, BLOCK(14, 0));
    heap(atb, MIB);
    mstx.regions_register(atb, &regions);
    for (int i = 0; i < 2; i++)
        references[i] = (struct mstx_region_reference){.type = 1, .handle = handles[i]};
    mstx.regions_unregister(atb, &both);
}

static void ask_for_too_much(void)
{
    void *address = NULL;
    int status = halMemAlloc(&address, (unsigned long long)2 * MIB * MIB,
                             driver_flag(7, HAL_KIND_DEVICE, HAL_PAGE_HUGE));

    if (status != DRV_STATUS_OUT_OF_MEMORY)
        check(-1, "two tebibytes");
}

int main(void)
{
    if (!mstx_start())
        return 77; /* no tracer */
    check(aclInit(NULL), "aclInit");
    check(aclrtSetDevice(0), "aclrtSetDevice");
    use_driver();
    pta = mstx.domain_create("ptaCaching");
    workspace = mstx.domain_create("ptaWorkspace");
    mindspore = mstx.domain_create("mindsporeMemPool");
    atb = mstx.domain_create("atb");
    mstx.mark("mark, with comma", NULL);
    for (int step = 1; step <= STEPS; step++)
        one_step(step);
    use_badly();
    use_other_pools();
    ask_for_too_much();
    check(halMemFree(hal_b), "B");
    check(halMemFree(hal_c), "C");
    check(halMemRelease(hal_h), "H");
    check(aclFinalize(), "aclFinalize");
    return failures;
}
