/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses at which somebody named a block (EVENT_BLOCK_OWNER), of each process.
 *
 * Fed with the batches of a reading. In the next one, nearly all blocks can be told at a glance to
 * hold none of them. Memory grows with different addresses.
 */
#ifndef LEAKTIDE_MODEL_OWNER_PLACES_H
#define LEAKTIDE_MODEL_OWNER_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

enum { OWNER_PAGE_BITS = 16 };

struct owner_place {
    uint64_t address;
    uint16_t process;
};

/* All zeros at first. */
struct owner_places {
    struct owner_place *rows; /* once they are finished: by process and address, each once */
    size_t count, capacity;
    bool has_failed; /* no memory */
    /* Of the process that is looked at. */
    size_t first, end;
    uint64_t pages[(1 << OWNER_PAGE_BITS) / 64]; /* a bit for each page with one, by its hash */
};

void owner_places_release(struct owner_places *places);
void owner_places_feed(struct owner_places *places, const struct event *events, size_t count);
/* After the last event. */
void owner_places_finish(struct owner_places *places);
/* After that: from now on the addresses of this process are meant. */
void owner_places_begin(struct owner_places *places, uint16_t process);
/* Whether one of them lies in [address, address + size_bytes). */
bool owner_places_touch(const struct owner_places *places, uint64_t address, uint64_t size_bytes);

#endif
