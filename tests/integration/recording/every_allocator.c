/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls every function that hands out host memory, and prints what it asked for, one word a line:
 * allocations, frees, bytes. A realloc that moves or grows a block is one of each. With an
 * argument it keeps to what valgrind knows: no pvalloc, nothing that fails.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t alloc_count, free_count, alloc_bytes;

static void *made(void *block, size_t size)
{
    if (block) {
        alloc_count++;
        alloc_bytes += size;
    }
    return block;
}

static void given_back(void *block)
{
    free_count += block != NULL;
    free(block);
}

static void *changed(void *old_block, void *new_block, size_t size)
{
    free_count += old_block != NULL && new_block != NULL;
    return made(new_block, size);
}

static void use_every_one(size_t size)
{
    void *block = made(malloc(size), size), *aligned = NULL;

    block = changed(block, realloc(block, 2 * size + 1), 2 * size + 1);
    block = changed(block, reallocarray(block, 4, size), 4 * size);
    if (size % 3)
        given_back(block);
    given_back(made(calloc(3, size), 3 * size));
    if (posix_memalign(&aligned, 64, 8 * size) == 0)
        given_back(made(aligned, 8 * size));
    given_back(made(aligned_alloc(64, 64 * size), 64 * size));
    given_back(made(memalign(128, size + 7), size + 7));
    given_back(made(realloc(NULL, size), size));
    given_back(NULL);
}

/* Both fail, and the blocks live on; the second asks for so much that the product is 0. */
static void fail_to_grow(size_t size)
{
    volatile size_t half_bits = (size_t)1 << 32;

    if (realloc(made(malloc(size), size), SIZE_MAX / 4))
        abort();
    if (reallocarray(made(malloc(size), size), half_bits, half_bits))
        abort();
}

int main(int argc, char **argv)
{
    char line[128];
    int length;

    for (size_t size = 1; size < 3000; size++)
        use_every_one(size);
    given_back(made(valloc(5000), 5000));
    if (argc == 1) {
        given_back(made(pvalloc(5000), 5000));
        fail_to_grow(100);
    }
    (void)argv;
    /* Not printf, which allocates. */
    length = snprintf(line, sizeof(line), "%lu\n%lu\n%lu\n", (unsigned long)alloc_count,
                      (unsigned long)free_count, (unsigned long)alloc_bytes);
    return write(1, line, (size_t)length) != length;
}
