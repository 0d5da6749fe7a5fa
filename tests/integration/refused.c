/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that the host refuses. What each way to ask returns, and what it leaves in errno, is
 * counted: natively and recorded it must be the same.
 *
 *   refused probe STATUS    asks in all ways for more than there can be, and exits with it
 *   refused full WHAT       keeps blocks until no more are there, by a limit of WHAT ("as",
 * "data"), says how many it got, and exits with 1 refused lives           is refused half a
 * gibibyte, works on for more than a second, exits with 1
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SLAB_BYTES = 50000, ROOM_BYTES = 48 << 20, LARGE_BYTES = 1 << 29, KEPT_MOST = 4096 };

#define HUGE_PAGES_BYTES ((size_t)1 << 38) /* so many are set aside nowhere */

static volatile size_t huge = (size_t)1 << 50;

/* 1 if it is what the manual says. */
static __attribute__((noinline)) int is_refused(const void *block)
{
    int is_right = !block && errno == ENOMEM;

    errno = 0;
    return is_right;
}

static int is_refused_mapping(size_t size, int protection, int error)
{
    int huge_pages = size == (size_t)HUGE_PAGES_BYTES ? MAP_HUGETLB : 0;
    void *mapping = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | huge_pages, -1, 0);
    int is_right = mapping == MAP_FAILED && errno == error;

    errno = 0;
    return is_right;
}

/* The right answers, of 15. */
static int probe(void)
{
    char *volatile kept = malloc(10); /* what is refused leaves it where it is */
    void *out = kept;
    int right = 0;

    strcpy(kept, "kept");
    errno = 0;
    right += is_refused(malloc(huge));
    right += is_refused(malloc(SIZE_MAX - huge));
    right += is_refused(calloc(huge, 1));
    right += is_refused(calloc(huge, huge));
    right += is_refused(realloc(kept, huge));
    right += is_refused(reallocarray(kept, huge, huge));
    right += is_refused(aligned_alloc(64, huge));
    right += is_refused(memalign(64, huge));
    right += posix_memalign(&out, 64, huge) == ENOMEM && out == kept;
    right += posix_memalign(&out, 3, 64) == EINVAL && out == kept; /* no want of memory */
    right += is_refused_mapping(huge, PROT_READ | PROT_WRITE, ENOMEM);
    right += is_refused_mapping(huge, PROT_NONE, ENOMEM);
    right += is_refused_mapping(0, PROT_NONE, EINVAL);                /* neither */
    right += is_refused_mapping(HUGE_PAGES_BYTES, PROT_READ, ENOMEM); /* nor this */
    right += strcmp(kept, "kept") == 0;
    free(kept);
    return right;
}

/* The first and the sixth number of a line: what counts for one limit and for the other. */
static unsigned long pages_of(int what)
{
    unsigned long size = 0, data = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file && fscanf(file, "%lu %*u %*u %*u %*u %lu", &size, &data) != 2)
        size = data = 0;
    if (file)
        fclose(file);
    return what == RLIMIT_AS ? size : data;
}

static void limit(int what)
{
    rlim_t bytes = pages_of(what) * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM_BYTES;
    struct rlimit room = {bytes, bytes};

    setrlimit(what, &room);
}

static char *slab(void)
{
    char *block = malloc(SLAB_BYTES);

    if (block)
        memset(block, 1, SLAB_BYTES);
    return block;
}

static int scratch(void)
{
    char *block = malloc(2000);
    volatile int is_there = block != NULL;

    free(block);
    return is_there;
}

static int full(int what)
{
    static char *kept[KEPT_MOST];
    int count = 0;

    limit(what);
    while (count < KEPT_MOST && scratch() && (kept[count] = slab()))
        count++;
    printf("%s\n", count > 100 && count < KEPT_MOST ? "full" : "wrong");
    return 1;
}

/* Needs not so much after all. */
static int lives(void)
{
    struct timespec now, begin;

    limit(RLIMIT_AS);
    if (!is_refused(malloc((size_t)LARGE_BYTES)))
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        scratch();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 1200);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "probe") == 0) {
        printf("%d\n", probe());
        return atoi(argv[2]);
    }
    if (argc > 2 && strcmp(argv[1], "full") == 0)
        return full(strcmp(argv[2], "as") == 0 ? RLIMIT_AS : RLIMIT_DATA);
    return lives();
}
