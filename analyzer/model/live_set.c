/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks that are alive, found by address.
 *
 * Buckets do not wrap around: after the last home are `tail_buckets` more, and a block goes at
 * most that far. With hashed addresses it never does; if it did, the set would grow.
 */
#include "live_set.h"

#include <stdlib.h>
#include <string.h>

#include "huge_pages.h"
#include "leaktide/invariant.h"
#include "list.h"

enum {
    first_buckets = 512,
    tail_buckets = 64,
    /* Below this, a scaled hash may land among buckets that are not emptied yet. */
    low_buckets = tail_buckets * 8
};

static const size_t roomy_bytes = (size_t)128 << 20;
static const size_t reserved_bytes = (size_t)1 << 40;

static size_t buckets_bytes(size_t bucket_count)
{
    return (bucket_count + tail_buckets) * sizeof(struct live_bucket);
}

/*
 * A bucket that is full costs a wrong guess of the processor, so a small set is kept two thirds
 * empty; a large one saves memory.
 */
static bool is_roomy(size_t bucket_count)
{
    return bucket_count * sizeof(struct live_bucket) <= roomy_bytes;
}

static size_t limit_of(size_t bucket_count)
{
    size_t slot_count = bucket_count * LIVE_BUCKET_BLOCKS;

    return is_roomy(bucket_count) ? slot_count / 5 * 2 : slot_count / 6 * 5;
}

static void start_small(struct live_set *set)
{
    set->bucket_count = first_buckets;
    set->block_limit = limit_of(first_buckets);
    set->block_count = 0;
    set->large_count = 0;
}

bool live_set_init(struct live_set *set)
{
    memset(set, 0, sizeof(*set));
    if (!stretch_init(&set->stretch, reserved_bytes) ||
        !stretch_extend(&set->stretch, buckets_bytes(first_buckets))) {
        live_set_release(set);
        set->is_full = true;
        return false;
    }
    set->buckets = set->stretch.base;
    start_small(set);
    return true;
}

void live_set_release(struct live_set *set)
{
    stretch_release(&set->stretch);
    free(set->large);
    memset(set, 0, sizeof(*set));
}

void live_set_clear(struct live_set *set)
{
    if (set->block_count)
        stretch_clear(&set->stretch);
    start_small(set);
}

size_t live_set_count(const struct live_set *set)
{
    return set->block_count;
}

size_t live_set_bytes(const struct live_set *set)
{
    return buckets_bytes(set->bucket_count) + set->large_capacity * sizeof(*set->large);
}

static const struct live_bucket *end_of(const struct live_set *set)
{
    return set->buckets + set->bucket_count + tail_buckets;
}

static size_t home_of(const struct live_set *set, uint64_t address)
{
    return (size_t)(live_home(set, live_hash(address)) - set->buckets);
}

/* What the blocks of all buckets add up to. */
struct live_sums {
    size_t blocks, large, passed;
};

static void bucket_check(const struct live_set *set, size_t index, struct live_sums *sums)
{
    const struct live_bucket *bucket = &set->buckets[index];

    for (unsigned slot = 0; slot < LIVE_BUCKET_BLOCKS; slot++) {
        size_t home = home_of(set, bucket->address[slot]);

        if (!bucket->group[slot])
            continue;
        sums->blocks++;
        sums->large += bucket->size[slot] == LIVE_SIZE_ELSEWHERE;
        MT_ASSERT(home <= index);
        MT_ASSERT(index - home < tail_buckets);
        sums->passed += index - home;
        for (; home < index; home++)
            MT_ASSERT(set->buckets[home].passed);
    }
}

void live_set_check(const struct live_set *set)
{
    struct live_sums sums = {0};
    size_t passed = 0;

    MT_ASSERT(set->buckets == set->stretch.base);
    MT_ASSERT(buckets_bytes(set->bucket_count) <= set->stretch.usable_bytes);
    MT_ASSERT(set->block_limit == limit_of(set->bucket_count));
    MT_ASSERT(set->large_count <= set->large_capacity);
    for (size_t i = 0; i < set->bucket_count + tail_buckets; i++) {
        bucket_check(set, i, &sums);
        passed += set->buckets[i].passed;
    }
    MT_ASSERT(sums.blocks == set->block_count);
    MT_ASSERT(sums.large == set->large_count);
    MT_ASSERT(sums.passed == passed);
}

struct live_place live_set_find_behind(const struct live_set *set, uint64_t address,
                                       struct live_bucket *bucket)
{
    const struct live_bucket *end = end_of(set);

    for (; bucket < end; bucket++) {
        unsigned mask = live_slots_at(bucket, address);

        if (mask)
            return (struct live_place){bucket, (unsigned)__builtin_ctz(mask)};
        if (!bucket->passed)
            break;
    }
    return (struct live_place){NULL, 0};
}

struct live_place live_set_find_next(const struct live_set *set, uint64_t address,
                                     struct live_place after)
{
    unsigned mask = live_slots_at(after.bucket, address) & (~0U << after.slot << 1);

    if (mask)
        return (struct live_place){after.bucket, (unsigned)__builtin_ctz(mask)};
    if (!after.bucket->passed)
        return (struct live_place){NULL, 0};
    return live_set_find_behind(set, address, after.bucket + 1);
}

/* A free slot at home or after it. The buckets in between are told that somebody went past. */
static struct live_place slot_take(struct live_bucket *home, const struct live_bucket *end)
{
    for (struct live_bucket *bucket = home; bucket < end; bucket++) {
        unsigned mask = live_slots_free(bucket);

        if (!mask)
            continue;
        while (home < bucket)
            home++->passed++;
        return (struct live_place){bucket, (unsigned)__builtin_ctz(mask)};
    }
    return (struct live_place){NULL, 0};
}

/* Puts the blocks of a bucket that was copied and emptied where they belong now. */
static bool bucket_rehome(struct live_set *set, const struct live_bucket *old)
{
    unsigned used = ~live_slots_free(old) & ((1u << LIVE_BUCKET_BLOCKS) - 1);

    for (; used; used &= used - 1) {
        unsigned i = (unsigned)__builtin_ctz(used);
        struct live_place place;

        place = slot_take(live_home(set, live_hash(old->address[i])), end_of(set));
        if (!place.bucket)
            return false;
        place.bucket->address[place.slot] = old->address[i];
        place.bucket->size[place.slot] = old->size[i];
        place.bucket->group[place.slot] = old->group[i];
        place.bucket->birth[place.slot] = old->birth[i];
    }
    return true;
}

/*
 * A block in old bucket b has its old home in (b - tail_buckets, b]. Its new home is at least 6/5
 * of that, less rounding: at or above b for all b from low_buckets on, so above them one bucket
 * after the other is emptied and rehomed. Those below are emptied first and rehomed last.
 */
static bool rehome_all(struct live_set *set, size_t old_bucket_count)
{
    static const struct live_bucket empty;
    struct live_bucket low[low_buckets];
    size_t low_count = low_buckets;
    bool is_ok = true;

    for (size_t i = old_bucket_count + tail_buckets; i-- > low_count;) {
        struct live_bucket old = set->buckets[i];

        set->buckets[i] = empty;
        is_ok &= bucket_rehome(set, &old);
    }
    memcpy(low, set->buckets, sizeof(low));
    memset(set->buckets, 0, sizeof(low));
    for (size_t i = 0; i < low_count; i++)
        is_ok &= bucket_rehome(set, &low[i]);
    return is_ok;
}

/* To move a block costs more than to put it, so a small set is moved seldom. */
static size_t larger_count(size_t bucket_count)
{
    enum { leap_buckets = 1 << 14 };

    if (bucket_count <= leap_buckets)
        return bucket_count * 4;
    return is_roomy(bucket_count * 2) ? bucket_count * 2 : bucket_count + bucket_count / 5;
}

static bool grow(struct live_set *set)
{
    size_t old_bucket_count = set->bucket_count;
    size_t bucket_count = larger_count(old_bucket_count);

    if (bucket_count > UINT32_MAX || !stretch_extend(&set->stretch, buckets_bytes(bucket_count)))
        return false;
    huge_pages_fill(&set->buckets[old_bucket_count + tail_buckets],
                    buckets_bytes(bucket_count) - buckets_bytes(old_bucket_count));
    set->bucket_count = bucket_count;
    set->block_limit = limit_of(bucket_count);
    return rehome_all(set, old_bucket_count);
}

static bool large_put(struct live_set *set, const struct live_block *block)
{
    if (!list_has_room(&set->large, &set->large_capacity, set->large_count, sizeof(*set->large)))
        return false;
    set->large[set->large_count++] = (struct live_large){
        .address = block->address, .size_bytes = block->size_bytes, .group = block->group};
    return true;
}

static size_t large_find(const struct live_set *set, uint64_t address, uint32_t group)
{
    size_t i = 0;

    while (i < set->large_count &&
           (set->large[i].address != address || set->large[i].group != group))
        i++;
    return i;
}

/* A place at home or after; the set grows as often as it takes. */
static struct live_place room_for(struct live_set *set, uint64_t hash)
{
    struct live_place place = {NULL, 0};

    if (set->block_count >= set->block_limit && !grow(set))
        return place;
    place = slot_take(live_home(set, hash), end_of(set));
    while (!place.bucket && grow(set))
        place = slot_take(live_home(set, hash), end_of(set));
    if (place.bucket)
        set->block_count++;
    return place;
}

bool live_set_put_slowly(struct live_set *set, uint64_t hash, const struct live_block *block)
{
    bool is_large = block->size_bytes >= LIVE_SIZE_ELSEWHERE;
    struct live_place place;

    if (is_large && !large_put(set, block)) {
        set->is_full = true;
        return false;
    }
    place = room_for(set, hash);
    if (!place.bucket) {
        set->large_count -= is_large;
        set->is_full = true;
        return false;
    }
    place.bucket->address[place.slot] = block->address;
    place.bucket->size[place.slot] = is_large ? LIVE_SIZE_ELSEWHERE : (uint32_t)block->size_bytes;
    place.bucket->group[place.slot] = block->group;
    place.bucket->birth[place.slot] = block->birth;
    return true;
}

struct live_block live_set_at(const struct live_set *set, struct live_place place)
{
    MT_ASSERT(place.slot < LIVE_BUCKET_BLOCKS);
    MT_ASSERT(place.bucket >= set->buckets && place.bucket < end_of(set));
    struct live_block block = {
        .address = place.bucket->address[place.slot],
        .size_bytes = place.bucket->size[place.slot],
        .group = place.bucket->group[place.slot],
        .birth = place.bucket->birth[place.slot],
    };

    if (block.size_bytes == LIVE_SIZE_ELSEWHERE) {
        size_t i = large_find(set, block.address, block.group);

        if (i < set->large_count)
            block.size_bytes = set->large[i].size_bytes;
    }
    return block;
}

struct live_block live_set_take_large(struct live_set *set, struct live_place place)
{
    struct live_block block = live_set_at(set, place);
    size_t i = large_find(set, block.address, block.group);

    if (i < set->large_count)
        set->large[i] = set->large[--set->large_count];
    return block;
}

void live_set_each(const struct live_set *set, live_visitor visit, void *context)
{
    for (size_t i = 0; i < set->bucket_count + tail_buckets; i++) {
        for (unsigned slot = 0; slot < LIVE_BUCKET_BLOCKS; slot++) {
            struct live_place place = {&set->buckets[i], slot};

            if (place.bucket->group[slot]) {
                struct live_block block = live_set_at(set, place);

                visit(context, &block);
            }
        }
    }
}
