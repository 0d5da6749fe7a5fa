/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints its process id; then, for each line that it reads, runs an operator that writes a tensor
 * and launches a kernel, and prints its number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "fake_ascend.h"
#include "mstx_client.h"

static void run_operator(void *block)
{
    char message[192];

    snprintf(message, sizeof(message),
             "memscope-aten-ac:ptr=%" PRIu64 ";is_write=True;is_read=False;is_output=True;"
             "name=aten.fill;shape=torch.Size([8]);dtype=torch.uint8;tensor_size=8;device=npu:0",
             (uint64_t)(uintptr_t)block);
    mstx.mark("memscope-aten-b: name=aten::fill_.Scalar", NULL);
    mstx.mark(message, NULL);
    aclrtLaunchKernel((void *)(uintptr_t) "fill_kernel", 1, NULL, 0, NULL);
    mstx.mark("memscope-aten-e: name=aten::fill_.Scalar", NULL);
}

int main(void)
{
    void *block = NULL;
    int number = 0, letter;

    if (!mstx_start())
        return 77; /* no tracer */
    aclInit(NULL);
    aclrtSetDevice(0);
    if (halMemAlloc(&block, 4096, 1u << HAL_KIND_SHIFT) != 0)
        return 1;
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while ((letter = getchar()) != EOF) {
        if (letter != '\n')
            continue;
        run_operator(block);
        printf("%d\n", ++number);
        fflush(stdout);
    }
    halMemFree(block);
    return aclFinalize();
}
