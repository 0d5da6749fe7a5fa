/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chance that is the same each time: numbers that follow from a seed (splitmix64).
 */
#ifndef LEAKTIDE_TESTS_CHANCE_H
#define LEAKTIDE_TESTS_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

struct chance {
    uint64_t state; /* the seed, at first */
};

static inline uint64_t chance_next(struct chance *chance)
{
    uint64_t x = chance->state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* From least to most; least where most is less. */
static inline uint32_t chance_between(struct chance *chance, uint32_t least, uint32_t most)
{
    return most <= least ? least : least + (uint32_t)(chance_next(chance) % (most - least + 1));
}

/* True with this probability. */
static inline bool chance_happens(struct chance *chance, double probability)
{
    return (double)(chance_next(chance) >> 11) * 0x1p-53 < probability;
}

#endif
