/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_allocators: allocates, frees most of it, prints what the allocator says of itself, and
 * waits. Run with another allocator preloaded, it asks that one.
 *
 *     allocated 20985040
 *     ready
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size)
    __attribute__((weak));

enum {
    BLOCKS = 200000,
    LARGE_BLOCKS = 20,
    LARGE_BYTES = 1 << 20,
    KEPT_OF = 10, /* every tenth small block, every second large one */
    SECONDS = 120
};

static char *blocks[BLOCKS], *large[LARGE_BLOCKS];

static char *filled(size_t size_bytes)
{
    char *block = malloc(size_bytes);

    if (!block)
        exit(1);
    return memset(block, 1, size_bytes);
}

static void work(void)
{
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = filled(16 + (size_t)i * 7919 % 900);
    for (int i = 0; i < LARGE_BLOCKS; i++)
        large[i] = filled(LARGE_BYTES);
    for (int i = 0; i < BLOCKS; i++)
        if (i % KEPT_OF)
            free(blocks[i]);
    for (int i = 0; i < LARGE_BLOCKS; i += 2)
        free(large[i]);
}

static size_t said_by_jemalloc(const char *name)
{
    size_t number = 0, size = sizeof(number);

    mallctl(name, &number, &size, NULL, 0);
    return number;
}

static void say(void)
{
    uint64_t epoch = 1;
    size_t size = sizeof(epoch);

    if (mallctl) {
        mallctl("epoch", &epoch, &size, &epoch, size); /* else it says what was before */
        printf("allocated %zu\n", said_by_jemalloc("stats.allocated"));
        printf("resident %zu\n", said_by_jemalloc("stats.resident"));
    }
    printf("ready\n");
    fflush(stdout);
}

int main(void)
{
    work();
    say();
    sleep(SECONDS);
    return 0;
}
