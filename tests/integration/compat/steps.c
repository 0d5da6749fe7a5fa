/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints its process id; then takes a step for each line that it reads. Step n takes 1000 + n bytes
 * from the fake driver, keeps them to the end, and prints its number.
 */
#include <stdio.h>
#include <unistd.h>

#include "fake_ascend.h"
#include "mstx_client.h"

enum { STEPS_MOST = 100 };

static void *blocks[STEPS_MOST];

static void one_step(int step)
{
    uint64_t range = mstx.range_start("step start", NULL);

    halMemAlloc(&blocks[step], 1000 + (unsigned long long)step, 1u << HAL_KIND_SHIFT);
    mstx.range_end(range);
}

int main(void)
{
    int step = 0, letter;

    if (!mstx_start())
        return 77; /* no tracer */
    aclInit(NULL);
    aclrtSetDevice(0);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while ((letter = getchar()) != EOF && step + 1 < STEPS_MOST) {
        if (letter != '\n')
            continue;
        one_step(++step);
        printf("%d\n", step);
        fflush(stdout);
    }
    for (; step > 0; step--)
        halMemFree(blocks[step]);
    return aclFinalize();
}
