/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_allocators: allocates, frees most of it, prints what the allocator says of itself, and
 * waits for a line. Then it does what gives memory back with that allocator, prints how much that
 * was, and waits for another. Run with another allocator preloaded, it asks that one.
 *
 *     usable 20985040
 *     ready
 *     (a line)
 *     given_back 63504384
 *     ready
 */
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mallctl(const char *name, void *old, size_t *old_size, void *new_value, size_t new_size)
    __attribute__((weak));
int MallocExtension_GetNumericProperty(const char *name, size_t *number) __attribute__((weak));
void MallocExtension_ReleaseFreeMemory(void) __attribute__((weak));

enum {
    BLOCKS = 200000,
    LARGE_BLOCKS = 20,
    LARGE_BYTES = 1 << 20,
    KEPT_OF = 10 /* every tenth small block, every second large one */
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
        if (i % KEPT_OF) {
            free(blocks[i]);
            blocks[i] = NULL;
        }
    for (int i = 0; i < LARGE_BLOCKS; i += 2) {
        free(large[i]);
        large[i] = NULL;
    }
}

static size_t usable(char *const *all, int count)
{
    size_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += all[i] ? malloc_usable_size(all[i]) : 0;
    return sum;
}

static size_t resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long all = 0, pages = 0;

    if (!file || fscanf(file, "%lu %lu", &all, &pages) != 2)
        exit(1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* What the account advises. */
static void give_back(void)
{
    if (mallctl)
        mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
    else if (MallocExtension_ReleaseFreeMemory)
        MallocExtension_ReleaseFreeMemory();
    else
        malloc_trim(0);
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
    if (MallocExtension_GetNumericProperty) {
        MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &size);
        printf("allocated %zu\n", size);
    }
    printf("usable %zu\n", usable(blocks, BLOCKS) + usable(large, LARGE_BLOCKS));
}

/* Until whoever reads has looked. */
static void wait_for_line(void)
{
    printf("ready\n");
    fflush(stdout);
    while (getchar() != '\n')
        if (feof(stdin))
            exit(0);
}

int main(void)
{
    size_t before;

    work();
    say();
    wait_for_line();
    before = resident();
    give_back();
    printf("given_back %td\n", (ptrdiff_t)(before - resident()));
    wait_for_line();
    return 0;
}
