/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs name the same addresses in each step: what is there twice is left out before the list
 * grows.
 */
#include "owner_places.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "list.h"

enum { PAGE_SHIFT = 12, FEW_PAGES = 4 };

void owner_places_release(struct owner_places *places)
{
    free(places->rows);
    memset(places, 0, sizeof(*places));
}

static int by_process_and_address(const void *left, const void *right)
{
    const struct owner_place *a = left, *b = right;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

void owner_places_finish(struct owner_places *places)
{
    size_t kept = 0;

    if (places->count)
        qsort(places->rows, places->count, sizeof(*places->rows), by_process_and_address);
    for (size_t i = 0; i < places->count; i++)
        if (!kept || by_process_and_address(&places->rows[kept - 1], &places->rows[i]) != 0)
            places->rows[kept++] = places->rows[i];
    places->count = kept;
}

static bool has_room(struct owner_places *places)
{
    if (places->count < places->capacity)
        return true;
    owner_places_finish(places);
    return places->count < places->capacity / 2 ||
           list_grow(&places->rows, &places->capacity, sizeof(*places->rows));
}

void owner_places_feed(struct owner_places *places, const struct event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind != EVENT_BLOCK_OWNER)
            continue;
        if (!has_room(places)) {
            places->has_failed = true;
            return;
        }
        places->rows[places->count++] = (struct owner_place){events[i].address, events[i].process};
    }
}

static uint64_t page_hash(uint64_t page)
{
    return hash_u64(page) >> (64 - OWNER_PAGE_BITS);
}

/* The first row that is not before it. */
static size_t row_at_least(const struct owner_places *places, size_t first, size_t end,
                           struct owner_place place)
{
    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (by_process_and_address(&places->rows[middle], &place) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

void owner_places_begin(struct owner_places *places, uint16_t process)
{
    memset(places->pages, 0, sizeof(places->pages));
    places->first = row_at_least(places, 0, places->count, (struct owner_place){0, process});
    for (places->end = places->first;
         places->end < places->count && places->rows[places->end].process == process;
         places->end++) {
        uint64_t hash = page_hash(places->rows[places->end].address >> PAGE_SHIFT);

        places->pages[hash >> 6] |= UINT64_C(1) << (hash & 63);
    }
}

/* False: none of the pages has one. */
static bool may_touch(const struct owner_places *places, uint64_t first_page, uint64_t last_page)
{
    if (last_page - first_page >= FEW_PAGES)
        return true;
    for (uint64_t page = first_page; page <= last_page; page++) {
        uint64_t hash = page_hash(page);

        if (places->pages[hash >> 6] >> (hash & 63) & 1)
            return true;
    }
    return false;
}

bool owner_places_touch(const struct owner_places *places, uint64_t address, uint64_t size_bytes)
{
    uint64_t last = address + size_bytes - 1;
    size_t found;

    if (places->first == places->end || !size_bytes)
        return false;
    if (last < address)
        last = UINT64_MAX;
    if (!may_touch(places, address >> PAGE_SHIFT, last >> PAGE_SHIFT))
        return false;
    found = row_at_least(places, places->first, places->end,
                         (struct owner_place){address, places->rows[places->first].process});
    return found < places->end && places->rows[found].address <= last;
}
