/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what a process holds rise until its work ends, whatever its stacks do?
 */
#include "block_rise.h"

#include <stdbool.h>
#include <stddef.h>

#include "leaktide/invariant.h"
#include "thresholds.h"
#include "trend.h"

enum { FIRST_STRIDE_NS = 1 << 10 };

_Static_assert((int)BLOCK_RISE_MOST <= (int)TREND_MAX, "all of them are one series");

/* --- while the blocks are read ---------------------------------------------------------------- */

static uint64_t lesser(uint64_t left, uint64_t right)
{
    return left < right ? left : right;
}

/* Two strides become one. */
static void thin_out(struct block_rise *rise)
{
    for (size_t i = 0; i < BLOCK_RISE_MOST / 2; i++)
        rise->lows[i] = lesser(rise->lows[2 * i], rise->lows[2 * i + 1]);
    rise->count = BLOCK_RISE_MOST / 2;
    rise->stride_ns *= 2;
}

static void stride_add(struct block_rise *rise)
{
    if (rise->count == BLOCK_RISE_MOST)
        thin_out(rise);
    rise->lows[rise->count++] = rise->alive_bytes;
    rise->next_ns = rise->stride_ns > (UINT64_MAX - rise->start_ns) / rise->count
                        ? UINT64_MAX
                        : rise->start_ns + rise->stride_ns * rise->count;
}

/* Until that time, nothing changed. */
static void pass(struct block_rise *rise, uint64_t time_ns)
{
    if (!rise->stride_ns) {
        rise->stride_ns = FIRST_STRIDE_NS;
        rise->start_ns = time_ns;
        stride_add(rise);
    }
    while (time_ns >= rise->next_ns && rise->next_ns < UINT64_MAX)
        stride_add(rise);
}

void block_rise_born(struct block_rise *rise, uint64_t time_ns, uint64_t size_bytes)
{
    pass(rise, time_ns);
    rise->alive_bytes += size_bytes;
}

void block_rise_gone(struct block_rise *rise, uint64_t time_ns, uint64_t size_bytes)
{
    uint64_t *low;

    pass(rise, time_ns);
    MT_ASSERT(rise->count && rise->alive_bytes >= size_bytes);
    rise->alive_bytes -= size_bytes;
    low = &rise->lows[rise->count - 1];
    *low = lesser(*low, rise->alive_bytes);
}

/* --- what it says ----------------------------------------------------------------------------- */

/* The first stride that begins at that time or later. */
static uint32_t stride_at(const struct block_rise *rise, uint64_t time_ns)
{
    uint64_t since_ns = time_ns > rise->start_ns ? time_ns - rise->start_ns : 0;
    uint64_t stride = (since_ns + rise->stride_ns - 1) / rise->stride_ns;

    return stride < rise->count ? (uint32_t)stride : rise->count;
}

/* Each third of the time has its part. */
static bool is_even(const uint64_t *lows, uint32_t last)
{
    uint64_t part = (lows[last] - lows[0]) / STILL_SHARE;

    for (uint32_t i = 0; i < THIRD_SHARE; i++)
        if (lows[(i + 1) * last / THIRD_SHARE] < lows[i * last / THIRD_SHARE] + part)
            return false;
    return true;
}

struct block_risen block_rise_between(const struct block_rise *rise, uint64_t begin_ns,
                                      uint64_t end_ns)
{
    uint32_t begin = rise->stride_ns ? stride_at(rise, begin_ns) : 0;
    uint32_t end = rise->stride_ns ? stride_at(rise, end_ns) : 0;
    uint32_t strides = end > begin ? end - begin : 0;
    const uint64_t *lows = rise->lows + begin + strides / LOOP_BEGIN_SHARE;
    uint32_t last;

    if (strides < STRIDES_MIN)
        return (struct block_risen){0, 0};
    last = strides - 1 - strides / LOOP_BEGIN_SHARE - strides / SMALL_SHARE;
    if (lows[last] <= lows[0] || !is_even(lows, last) ||
        trend_of(lows, last + 1).rise_chance >= SURE_CHANCE_MAX)
        return (struct block_risen){0, 0};
    return (struct block_risen){lows[last] - lows[0], last * rise->stride_ns};
}
