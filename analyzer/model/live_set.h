/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks that are alive, found by address.
 *
 * A line of memory is a bucket of three blocks. A block sits in the bucket of its hash or, when
 * that is full, in the next one with room; each bucket counts the blocks that went past it, so a
 * search ends at a bucket nobody went past, and a block that dies leaves no trace.
 *
 *   bucket  address 0 1 2 | size 0 1 2 | group 0 1 2 | birth 0 1 2 | how many went past
 *
 * The buckets are one stretch of reserved address space. Up to 128 MiB the set is at most 2/5 full
 * and grows to twice or four times as much, as speed counts more; beyond, it grows by a fifth when
 * it is 5/6 full. It grows in place: buckets are emptied from the end, and as a hash scaled to more
 * buckets never moves down, a block always goes to where nobody is waiting any more. So a block of
 * a large set costs 26 to 31 bytes, and growing needs no second copy. Two pools can hand out the
 * same address: the caller tells blocks apart by their group.
 */
#ifndef LEAKTIDE_MODEL_LIVE_SET_H
#define LEAKTIDE_MODEL_LIVE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"
#include "leaktide/invariant.h"
#include "stretch.h"

enum { LIVE_BUCKET_BLOCKS = 3 };

struct live_bucket {
    uint64_t address[LIVE_BUCKET_BLOCKS];
    uint32_t size[LIVE_BUCKET_BLOCKS];  /* LIVE_SIZE_ELSEWHERE: in the table of large blocks */
    uint32_t group[LIVE_BUCKET_BLOCKS]; /* 0: nothing here */
    uint32_t birth[LIVE_BUCKET_BLOCKS];
    uint32_t passed;
};

#define LIVE_SIZE_ELSEWHERE UINT32_MAX

/* A block of 4 GiB and more. */
struct live_large {
    uint64_t address, size_bytes;
    uint32_t group;
};

struct live_set {
    struct live_bucket *buckets;
    size_t bucket_count;
    size_t block_count;
    size_t block_limit;       /* grow before there are more */
    struct stretch stretch;   /* the buckets */
    struct live_large *large; /* few */
    size_t large_count, large_capacity;
    bool is_full; /* there was no memory for a block */
};

/* Where a block is; good until the next put or take. */
struct live_place {
    struct live_bucket *bucket; /* NULL: nowhere */
    unsigned slot;
};

struct live_block {
    uint64_t address, size_bytes;
    uint32_t group, birth;
};

/* False when there is no memory. */
bool live_set_init(struct live_set *set);
void live_set_release(struct live_set *set);
/* Forgets every block. */
void live_set_clear(struct live_set *set);
size_t live_set_count(const struct live_set *set);
size_t live_set_bytes(const struct live_set *set); /* of memory that it takes itself */

static inline uint64_t live_hash(uint64_t address)
{
    return hash_u64(address);
}

static inline struct live_bucket *live_home(const struct live_set *set, uint64_t hash)
{
    return set->buckets + ((hash >> 32) * set->bucket_count >> 32);
}

static inline void live_set_prefetch(const struct live_set *set, uint64_t hash)
{
    const struct live_bucket *home = live_home(set, hash);

    __builtin_prefetch(home, 1);
}

static inline unsigned live_slots_free(const struct live_bucket *bucket)
{
    unsigned mask = 0;

    for (unsigned i = 0; i < LIVE_BUCKET_BLOCKS; i++)
        mask |= (unsigned)(bucket->group[i] == 0) << i;
    return mask;
}

/* One bit for each slot of the bucket that has this address, also if nothing is in it. */
static inline unsigned live_addresses_at(const struct live_bucket *bucket, uint64_t address)
{
    unsigned mask = 0;

    for (unsigned i = 0; i < LIVE_BUCKET_BLOCKS; i++)
        mask |= (unsigned)(bucket->address[i] == address) << i;
    return mask;
}

/* One bit for each slot of the bucket that holds a block at this address. */
static inline unsigned live_slots_at(const struct live_bucket *bucket, uint64_t address)
{
    unsigned mask = live_addresses_at(bucket, address);

    return mask ? mask & ~live_slots_free(bucket) : 0;
}

struct live_place live_set_find_behind(const struct live_set *set, uint64_t address,
                                       struct live_bucket *bucket);

/* The first block at this address; the answer's bucket is NULL when there is none. */
static inline struct live_place live_set_find(const struct live_set *set, uint64_t hash,
                                              uint64_t address)
{
    struct live_bucket *bucket = live_home(set, hash);
    unsigned mask = live_addresses_at(bucket, address);

    if (mask) {
        unsigned slot = (unsigned)__builtin_ctz(mask);

        if (__builtin_expect(bucket->group[slot] != 0, 1))
            return (struct live_place){bucket, slot};
        return live_set_find_behind(set, address, bucket);
    }
    if (!bucket->passed)
        return (struct live_place){NULL, 0};
    return live_set_find_behind(set, address, bucket + 1);
}

/* The next one, after an answer of live_set_find. */
struct live_place live_set_find_next(const struct live_set *set, uint64_t address,
                                     struct live_place after);

bool live_set_put_slowly(struct live_set *set, uint64_t hash, const struct live_block *block);

/* The block must not be there yet. False, and is_full, when there is no memory. */
static inline bool live_set_put(struct live_set *set, uint64_t hash, const struct live_block *block)
{
    struct live_bucket *bucket = live_home(set, hash);
    unsigned mask = live_slots_free(bucket);
    unsigned slot;

    MT_ASSERT(block->group);
    if (!mask || set->block_count >= set->block_limit || block->size_bytes >= LIVE_SIZE_ELSEWHERE)
        return live_set_put_slowly(set, hash, block);
    slot = (unsigned)__builtin_ctz(mask);
    set->block_count++;
    bucket->address[slot] = block->address;
    bucket->size[slot] = (uint32_t)block->size_bytes;
    bucket->group[slot] = block->group;
    bucket->birth[slot] = block->birth;
    return true;
}

struct live_block live_set_at(const struct live_set *set, struct live_place place);
struct live_block live_set_take_large(struct live_set *set, struct live_place place);

static inline struct live_block live_set_take(struct live_set *set, uint64_t hash,
                                              struct live_place place)
{
    struct live_block block = {
        .address = place.bucket->address[place.slot],
        .size_bytes = place.bucket->size[place.slot],
        .group = place.bucket->group[place.slot],
        .birth = place.bucket->birth[place.slot],
    };

    MT_ASSERT(block.group);
    MT_ASSERT(set->block_count);
    MT_ASSERT(live_home(set, hash) <= place.bucket);
    if (block.size_bytes >= LIVE_SIZE_ELSEWHERE)
        block = live_set_take_large(set, place);
    place.bucket->group[place.slot] = 0;
    /* So that looking for the address again does not even seem to find it here. */
    place.bucket->address[place.slot] = ~block.address;
    for (struct live_bucket *bucket = live_home(set, hash); bucket < place.bucket; bucket++) {
        MT_ASSERT(bucket->passed);
        bucket->passed--;
    }
    set->block_count--;
    return block;
}

/* Asserts that every block is found, and that the counts are right. */
void live_set_check(const struct live_set *set);

typedef void (*live_visitor)(void *context, const struct live_block *block);
void live_set_each(const struct live_set *set, live_visitor visit, void *context);

#endif
