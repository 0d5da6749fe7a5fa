/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs operators of the fake ATB: a short name and a long one, with tensors and a workspace; one
 * that fails; and ones whose packs are not what ATB's are.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_ascend.h"
#include "mstx_client.h"

enum { TENSORS = 64 };

int execute(struct fake_atb_runner *runner,
            void *pack) __asm__("_ZN3atb6Runner7ExecuteERNS_17RunnerVariantPackE");

/* As the headers of ATB have them, in C. */
struct tensor {
    int dtype, format;
    long long dims[8];
    unsigned long long dim_num;
    void *device, *host;
    unsigned long long bytes;
};

struct tensors {
    size_t capacity, size;
    struct tensor storage[TENSORS + 1];
    struct tensor *heap;
};

struct flags {
    size_t capacity, size;
    unsigned char storage[TENSORS + 1];
    unsigned char *heap;
};

struct pack {
    struct tensors in, out;
    struct flags can_free, need_malloc;
    void *host_tiling, *tiling;
    unsigned long long tiling_bytes;
    void *workspace;
    unsigned long long workspace_bytes;
    void *intermediate;
    unsigned long long intermediate_bytes;
    void *arguments, *host_arguments, *context, *mstx;
};

static struct tensor half(void *device, long long rows, long long columns)
{
    return (struct tensor){.dtype = 1,
                           .format = 2,
                           .dims = {rows, columns},
                           .dim_num = 2,
                           .device = device,
                           .bytes = (unsigned long long)(rows * columns) * 2};
}

static void region(void *pool, void *address, uint64_t size_bytes)
{
    struct mstx_virtual_range range = {0, address, size_bytes};
    struct mstx_regions regions = {.count = 1, .ranges = &range};

    mstx.regions_register(pool, &regions);
}

int main(void)
{
    static struct pack pack, odd;
    struct fake_atb_runner runners[] = {
        {"LinearRunner", "7/0_Model/1_Linear", NULL, 0},
        {"SelfAttentionFusionRunnerOfALongName", "7/0_Model/2_Attention", NULL, 0},
        {"FailingRunner", "", NULL, 1}};
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *block = NULL;

    if (!mstx_start())
        return 77; /* no tracer */
    aclInit(NULL);
    aclrtSetDevice(0);
    aclrtMalloc((void **)&block, 1 << 20, 0);
    aclrtMemset(block, 1 << 20, 5, 1 << 20);
    region(mstx.domain_create("ptaCaching"), block, 1 << 20);
    pack.in.size = 3;
    pack.in.storage[0] = half(block, 4, 8);
    pack.in.storage[1] = half(block + 4096, 8, 16);
    pack.out.size = 1;
    pack.out.storage[0] = half(block + 8192, 4, 16);
    pack.workspace = block + 65536;
    pack.workspace_bytes = 1000;
    pack.intermediate_bytes = 24;
    odd = pack;
    odd.out.storage[0].bytes++;
    for (int i = 0; i < 2; i++)
        printf("%d ", execute(&runners[i], &pack));
    printf("%d ", execute(&runners[2], &pack));
    printf("%d ", execute(&runners[0], &odd));
    munmap(page, 4096);
    printf("%d\n", execute(&runners[0], page)); /* what is not there */
    return 0;
}
