/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_and_unmap MAPPINGS SECONDS: a process of so many mappings, each with a page in use, that for
 * so long maps 64 KiB, writes to them, and unmaps them, five thousand times a second. Prints how
 * long that took, in ns: how much its own calls wait for who reads its mappings.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAIR_BYTES = 64 << 10, PAUSE_US = 200 };

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static char *map(size_t bytes, int protection)
{
    char *mapping = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (mapping == MAP_FAILED) {
        perror("map_and_unmap: mmap");
        exit(1);
    }
    return mapping;
}

/* Neighbours differ in their protection, so that the kernel does not join them. */
static void make_mappings(long count)
{
    for (long i = 0; i < count; i++) {
        char *mapping = map(PAGE, PROT_READ | PROT_WRITE);

        *mapping = 1;
        if (i % 2 && mprotect(mapping, PAGE, PROT_READ) != 0) {
            perror("map_and_unmap: mprotect");
            exit(1);
        }
    }
}

static uint64_t pair_ns(void)
{
    uint64_t start_ns = now_ns();
    char *mapping = map(PAIR_BYTES, PROT_READ | PROT_WRITE);

    *mapping = 1;
    munmap(mapping, PAIR_BYTES);
    return now_ns() - start_ns;
}

static int by_length(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

int main(int count, char **arguments)
{
    uint64_t most, done = 0, end_ns;
    uint64_t *pairs;
    long seconds;

    if (count != 3)
        return 2;
    seconds = strtol(arguments[2], NULL, 10);
    most = (uint64_t)seconds * 1000000 / PAUSE_US;
    pairs = malloc(most * sizeof(*pairs));
    if (!pairs)
        return 1;
    make_mappings(strtol(arguments[1], NULL, 10));
    for (end_ns = now_ns() + (uint64_t)seconds * 1000000000; done < most && now_ns() < end_ns;) {
        pairs[done++] = pair_ns();
        usleep(PAUSE_US);
    }
    qsort(pairs, done, sizeof(*pairs), by_length);
    printf("{\"pairs\": %" PRIu64 ", \"p50_ns\": %" PRIu64 ", \"p99_ns\": %" PRIu64
           ", \"p999_ns\": %" PRIu64 ", \"worst_ns\": %" PRIu64 "}\n",
           done, pairs[done / 2], pairs[done - 1 - done / 100], pairs[done - 1 - done / 1000],
           pairs[done - 1]);
    free(pairs);
    return 0;
}
