/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "ring.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>

#include "leaktide/invariant.h"
#include "owner.h"
#include "rings_file.h"

enum { OWN_PART_BYTES = 4096 }; /* of the slot's header, before struct ring */

_Static_assert(sizeof(struct mt_ring_header) <= MT_RING_OWNER_BYTES &&
                   MT_RING_OWNER_BYTES + sizeof(pthread_mutex_t) <= OWN_PART_BYTES &&
                   OWN_PART_BYTES + sizeof(struct ring) <= MT_RING_HEADER_BYTES,
               "all fit before the words");

static void ring_check(const struct ring *ring)
{
    MT_ASSERT((const char *)ring == (const char *)ring->header + OWN_PART_BYTES);
    MT_ASSERT(ring->words == ring_header_words(ring->header));
    MT_ASSERT(ring->capacity_words == ring->header->capacity_words);
    MT_ASSERT(!ring->stacks || !ring->has_no_stacks);
    MT_ASSERT(ring->next != ring);
}

struct ring *ring_begin(struct mt_ring_header *slot, uint64_t capacity_words, uint32_t stream)
{
    struct ring *ring = (struct ring *)((char *)slot + OWN_PART_BYTES);

    MT_ASSERT(capacity_words && !(capacity_words & (capacity_words - 1)));
    MT_ASSERT(((uintptr_t)slot & (sizeof(uint64_t) - 1)) == 0);
    memset(ring, 0, sizeof(*ring));
    ring->header = slot;
    ring->words = ring_header_words(slot);
    ring->capacity_words = capacity_words;
    atomic_flag_clear(&ring->is_draining);
    ring->owner = (pthread_mutex_t *)((char *)slot + MT_RING_OWNER_BYTES);
    owner_lock(ring->owner);
    slot->capacity_words = capacity_words;
    slot->stream = stream;
    slot->slot_bytes = MT_RING_HEADER_BYTES + capacity_words * sizeof(uint64_t);
    /* Last, so that a reader never takes a half-made header for a ring. */
    __atomic_store_n(&slot->magic, MT_RING_MAGIC, __ATOMIC_RELEASE);
    return ring;
}

bool ring_adopt(struct ring *ring)
{
    if (pthread_mutex_trylock(ring->owner) != EOWNERDEAD)
        return false;
    pthread_mutex_consistent(ring->owner);
    ring_check(ring);
    return true;
}

/* The first word of a robust mutex is what the kernel looks at: the owner's id and two bits. */
uint32_t ring_owner_id(const struct ring *ring)
{
    uint32_t word = __atomic_load_n((const uint32_t *)(const void *)ring->owner, __ATOMIC_RELAXED);

    return word & FUTEX_TID_MASK;
}
