/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a block of the device, waits until it must have been seen by the sampler, takes another. */
#include <unistd.h>

#include "fake_ascend.h"

int main(void)
{
    void *blocks[2] = {NULL, NULL};

    aclInit(NULL);
    aclrtSetDevice(0);
    for (unsigned long long i = 0; i < 2; i++) {
        if (halMemAlloc(&blocks[i], (i + 1) << 20, 1u << HAL_KIND_SHIFT) != 0)
            return 1;
        usleep(300 * 1000);
    }
    halMemFree(blocks[0]);
    halMemFree(blocks[1]);
    return 0;
}
