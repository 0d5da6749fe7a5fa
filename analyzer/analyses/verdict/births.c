/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do survivors keep being born?
 *
 *   leak              | | | | | | | | |      at any time as likely
 *   cache that fills  |||||||                stopped
 *   cache by key      |||||||| | |   |       slower and slower
 *   made at need      |      |        |      too few to tell, and not regular
 */
#include "births.h"

#include "thresholds.h"
#include "trend.h"

struct rhythm {
    size_t steps;                     /* with births */
    size_t first, last;               /* of them */
    size_t shortest_gap, longest_gap; /* between neighbours */
    bool is_same_size;
};

static struct rhythm rhythm_of(const uint64_t *counts, const uint64_t *bytes, size_t count)
{
    struct rhythm rhythm = {.shortest_gap = SIZE_MAX, .is_same_size = true};

    for (size_t i = 0; i < count; i++) {
        size_t gap = i - rhythm.last;

        if (!counts[i])
            continue;
        if (rhythm.steps++) {
            rhythm.shortest_gap = gap < rhythm.shortest_gap ? gap : rhythm.shortest_gap;
            rhythm.longest_gap = gap > rhythm.longest_gap ? gap : rhythm.longest_gap;
            rhythm.is_same_size &=
                bytes[i] / counts[i] == bytes[rhythm.first] / counts[rhythm.first];
        } else {
            rhythm.first = i;
        }
        rhythm.last = i;
    }
    return rhythm;
}

/* Two more for each power of ten beyond a hundred sites. */
static size_t births_needed(size_t site_count)
{
    size_t needed = STEPS_WITH_BIRTHS_MIN;

    for (size_t sites = site_count; sites >= MANY_SITES_MIN; sites /= 10)
        needed += SEVERAL_MIN;
    return needed;
}

/* Where nearly every step leaves some, four steps say enough. */
static bool are_enough(const struct rhythm *rhythm, size_t count, size_t site_count)
{
    size_t span = count - rhythm->first;
    bool is_regular = rhythm->is_same_size && rhythm->longest_gap <= rhythm->shortest_gap + 1;
    bool is_dense = rhythm->steps >= span - span / DENSE_SHARE;
    size_t needed = is_dense ? STEPS_WITH_BIRTHS_MIN : births_needed(site_count);

    return rhythm->steps >= needed ||
           (rhythm->steps + 1 == needed && is_regular && rhythm->shortest_gap > 1);
}

/*
 * The silence at the end is longer than chance would make it, if births were as likely in each
 * step; or three times longer than any before.
 */
static bool has_stopped(const struct rhythm *rhythm, size_t count)
{
    size_t span = count - rhythm->first, silence = count - 1 - rhythm->last;
    double chance = 1;

    for (size_t i = 1; i < rhythm->steps; i++)
        chance *= 1 - (double)silence / (double)span;
    return chance < CHANCE_MAX || silence > SILENCE_TIMES * rhythm->longest_gap;
}

static bool slows_down(const uint64_t *counts, size_t count)
{
    size_t third = count / THIRD_SHARE;
    uint64_t early = 0, late = 0;

    for (size_t i = 0; i < third; i++) {
        early += counts[i];
        late += counts[count - 1 - i];
    }
    return late * SLOW_TIMES < early && trend_of(counts, count).fall_chance < CHANCE_MAX;
}

bool births_go_on(const uint64_t *counts, const uint64_t *bytes, size_t count, size_t site_count)
{
    struct rhythm rhythm = rhythm_of(counts, bytes, count);

    /* What begins near the end may be anything that begins. */
    return are_enough(&rhythm, count, site_count) &&
           (count - rhythm.first) * BEGIN_SHARE >= count && !has_stopped(&rhythm, count) &&
           !slows_down(counts + rhythm.first, count - rhythm.first);
}
