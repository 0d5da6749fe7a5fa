/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves 100 blocks of 3000 bytes and one of 700000 behind on the host heap, and frees others; one
 * block of the driver lives, too.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_ascend.h"

static void *volatile kept;

static void forget_records(void)
{
    for (int i = 0; i < 100; i++) {
        kept = malloc(3000);
        memset(kept, 1, 3000);
    }
}

static void forget_table(void)
{
    kept = malloc(700000);
    memset(kept, 1, 700000);
}

static void use_and_free(void)
{
    for (int i = 0; i < 100; i++) {
        kept = malloc(5000);
        free(kept);
    }
}

int main(void)
{
    void *address = NULL;

    if (halMemAlloc(&address, 4096, 1u << HAL_KIND_SHIFT) != 0)
        return 1;
    usleep(100 * 1000); /* what is left is none of the first fifth of the recording */
    use_and_free();
    forget_records();
    forget_table();
    return 0;
}
