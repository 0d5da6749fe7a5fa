/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thousands of driver calls in no sensible order: "chaos SEED CALLS". Blocks, physical memory that
 * is retained, mapped, released too early or too often, frees that the driver refuses. Prints the
 * books of the fake driver at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_ascend.h"

enum { SLOTS = 64, MIB = 1 << 20, RANGE_BYTES = 8 * MIB };

static void *blocks[SLOTS], *handles[SLOTS], *ranges[SLOTS], *mapped[SLOTS];
static unsigned seed;

static unsigned any(unsigned count)
{
    return (unsigned)rand_r(&seed) % count;
}

static void block_turn(void)
{
    void **block = &blocks[any(SLOTS)];

    if (*block && halMemFree(*block) == 0)
        *block = NULL;
    else if (!*block)
        halMemAlloc(block, 512 * (any(64) + 1), 1u << HAL_KIND_SHIFT | any(FAKE_DEVICES));
}

static void handle_turn(void)
{
    struct hal_memory_property property = {.side = 1, .device = any(FAKE_DEVICES)};
    void **handle = &handles[any(SLOTS)];

    if (!*handle)
        halMemCreate(handle, MIB * (any(4) + 1), &property, 0);
    else if (!any(4) && (halMemRelease(*handle) != 0 || any(4)))
        *handle = NULL; /* else it is released once too often, some day */
}

static void range_turn(void)
{
    unsigned slot = any(SLOTS);

    if (!ranges[slot])
        halMemAddressReserve(&ranges[slot], RANGE_BYTES, 0, NULL, 0);
    else if (halMemAddressFree(ranges[slot]) == 0)
        ranges[slot] = NULL;
}

static void mapping_turn(void)
{
    unsigned slot = any(SLOTS);
    void *address = (char *)ranges[slot] + (uint64_t)any(8) * MIB;

    if (mapped[slot] && any(2) && halMemUnmap(mapped[slot]) == 0)
        mapped[slot] = NULL;
    else if (ranges[slot] && halMemMap(address, MIB, 0, handles[any(SLOTS)], 0) == 0)
        mapped[slot] = address;
}

static void retain_turn(void)
{
    void *handle = NULL;
    void *address = mapped[any(SLOTS)];

    if (address && halMemRetainAllocationHandle(&handle, address) == 0 && any(4))
        halMemRelease(handle);
}

static void wrong_turn(void)
{
    if (any(2))
        fake_hal_refuse_next_free();
    else
        halMemFree((void *)(uintptr_t)(0x1000 + any(1000)));
}

int main(int argc, char **argv)
{
    static void (*const turns[])(void) = {block_turn,  block_turn,   handle_turn,
                                          handle_turn, mapping_turn, mapping_turn,
                                          range_turn,  retain_turn,  wrong_turn};
    long calls = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;

    seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    for (long i = 0; i < calls; i++)
        turns[any(sizeof(turns) / sizeof(turns[0]))]();
    for (uint32_t device = 0; device < FAKE_DEVICES; device++)
        printf("books %u %" PRIu64 " %zu\n", device, fake_hal_device_bytes(device),
               fake_hal_device_blocks(device));
    printf("counts %zu %zu\n", fake_hal_ranges(), fake_hal_mappings());
    return 0;
}
