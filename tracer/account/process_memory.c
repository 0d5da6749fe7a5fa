/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "process_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "leaktide/invariant.h"

#define PAGE_IS_PRESENT (UINT64_C(1) << 63)

enum { ADDRESS_BITS_MOST = 56 };

bool process_memory_open(struct process_memory *memory, int folder)
{
    memset(memory, 0, sizeof(*memory));
    memory->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    memory->memory = openat(folder, "mem", O_RDONLY | O_CLOEXEC);
    memory->pagemap = openat(folder, "pagemap", O_RDONLY | O_CLOEXEC);
    memory->bytes = malloc(MEMORY_WINDOW_BYTES);
    memory->pages = malloc(PAGES_WINDOW * sizeof(*memory->pages));
    if (memory->memory >= 0 && memory->pagemap >= 0 && memory->bytes && memory->pages)
        return true;
    process_memory_close(memory);
    return false;
}

void process_memory_close(struct process_memory *memory)
{
    if (memory->memory >= 0)
        close(memory->memory);
    if (memory->pagemap >= 0)
        close(memory->pagemap);
    free(memory->bytes);
    free(memory->pages);
}

/* --- which pages are resident --------------------------------------------------------------- */

/* Pages past what can be read are not there. Windows are aligned, so that who looks here and there
 * in one stays in it. */
static void pages_fetch(struct process_memory *memory, uint64_t page)
{
    uint64_t first = page / PAGES_WINDOW * PAGES_WINDOW;
    ssize_t size = pread(memory->pagemap, memory->pages, PAGES_WINDOW * sizeof(*memory->pages),
                         (off_t)(first * sizeof(*memory->pages)));
    size_t got = size > 0 ? (size_t)size : 0;

    memset((char *)memory->pages + got, 0, PAGES_WINDOW * sizeof(*memory->pages) - got);
    memory->first_page = first;
    memory->page_count = PAGES_WINDOW;
}

static bool page_is_resident(struct process_memory *memory, uint64_t page)
{
    MT_ASSERT(memory->page_count <= PAGES_WINDOW);
    if (page - memory->first_page >= memory->page_count)
        pages_fetch(memory, page);
    return (memory->pages[page - memory->first_page] & PAGE_IS_PRESENT) != 0;
}

static uint64_t next_page_that(struct process_memory *memory, uint64_t start, uint64_t end,
                               bool is_resident)
{
    uint64_t page = start / memory->page_bytes;

    while (start < end && page_is_resident(memory, page) != is_resident)
        start = ++page * memory->page_bytes;
    return start < end ? start : end;
}

uint64_t memory_next_resident(struct process_memory *memory, uint64_t start, uint64_t end)
{
    return next_page_that(memory, start, end, true);
}

uint64_t memory_next_absent(struct process_memory *memory, uint64_t start, uint64_t end)
{
    return next_page_that(memory, start, end, false);
}

uint64_t memory_resident_bytes(struct process_memory *memory, uint64_t start, uint64_t end)
{
    uint64_t sum = 0;

    while (start < end) {
        uint64_t from = memory_next_resident(memory, start, end);

        start = memory_next_absent(memory, from, end);
        sum += start - from;
    }
    return sum;
}

/* --- what they hold ------------------------------------------------------------------------- */

/* More at once for who goes on where the last window ended. */
static uint64_t window_bytes(const struct process_memory *memory, uint64_t start)
{
    uint64_t had = memory->end - memory->start;

    if (!had || start < memory->start || start > memory->end + 2 * memory->page_bytes)
        return memory->page_bytes;
    return had * 2 < MEMORY_WINDOW_BYTES ? had * 2 : MEMORY_WINDOW_BYTES;
}

const void *memory_at(struct process_memory *memory, uint64_t address, size_t size_bytes)
{
    uint64_t start = address / memory->page_bytes * memory->page_bytes;
    uint64_t want, end;
    ssize_t size;

    MT_ASSERT(size_bytes <= memory->page_bytes);
    MT_ASSERT(memory->start <= memory->end && memory->end - memory->start <= MEMORY_WINDOW_BYTES);
    if (address >> ADDRESS_BITS_MOST)
        return NULL;
    if (address >= memory->start && address + size_bytes <= memory->end)
        return memory->bytes + (address - memory->start);
    want = window_bytes(memory, start);
    if (want < address + size_bytes - start)
        want = address + size_bytes - start;
    end = memory_next_absent(memory, start, start + want);
    memory->start = memory->end = 0;
    if (end < address + size_bytes || end - start > MEMORY_WINDOW_BYTES)
        return NULL;
    size = pread(memory->memory, memory->bytes, end - start, (off_t)start);
    if (size <= 0 || start + (uint64_t)size < address + size_bytes)
        return NULL;
    memory->start = start;
    memory->end = start + (uint64_t)size;
    return memory->bytes + (address - start);
}

bool memory_word(struct process_memory *memory, uint64_t address, uint64_t *word)
{
    const void *at = memory_at(memory, address, sizeof(*word));

    if (at)
        memcpy(word, at, sizeof(*word));
    return at != NULL;
}
