/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Leak Suspicion Index.
 */
#include "leak_index.h"

#include <math.h>

static double clip(double value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* Sum of 0 .. n-1, and of their squares. */
static double sum_below(double n)
{
    return n * (n - 1) / 2;
}

static double squares_below(double n)
{
    return (n - 1) * n * (2 * n - 1) / 6;
}

/* The same value at all beats of [first, end). */
static void line_add(struct leak_line *line, uint64_t first, uint64_t end, double value)
{
    double count = (double)end - (double)first;
    double beats = sum_below((double)end) - sum_below((double)first);

    if (end <= first)
        return;
    line->count += count;
    line->x += beats;
    line->y += count * value;
    line->xx += squares_below((double)end) - squares_below((double)first);
    line->xy += beats * value;
}

static uint64_t recent_begin(uint64_t last_beat)
{
    uint64_t beats = last_beat + 1, recent = (beats + 3) / 4;

    if (recent < LEAK_RECENT_BEATS)
        recent = LEAK_RECENT_BEATS;
    return beats > recent ? beats - recent : 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The value holds up to, but not at, this beat. */
static void take_up_to(struct leak_series *series, uint64_t end, uint64_t last_beat)
{
    uint64_t first = later(series->next_beat, LEAK_WARM_UP_BEATS);
    uint64_t border = recent_begin(last_beat);

    if (end <= series->next_beat)
        return;
    line_add(&series->all, first, end, series->value);
    line_add(&series->base, first, earlier(end, border), series->value);
    line_add(&series->recent, later(first, border), end, series->value);
    series->next_beat = end;
}

void leak_series_change(struct leak_series *series, uint64_t beat, uint64_t last_beat, double value)
{
    take_up_to(series, earlier(beat, last_beat + 1), last_beat);
    series->value = value;
}

void leak_series_finish(struct leak_series *series, uint64_t last_beat)
{
    take_up_to(series, last_beat + 1, last_beat);
}

bool leak_line_slope(const struct leak_line *line, double *slope)
{
    double spread = line->count * line->xx - line->x * line->x;

    if (line->count < LEAK_POINTS_LEAST || spread <= 0)
        return false;
    *slope = (line->count * line->xy - line->x * line->y) / spread;
    return true;
}

static double pattern_of(const struct leak_series *series)
{
    double base = 0, recent = 0;

    if (!leak_line_slope(&series->base, &base) || !leak_line_slope(&series->recent, &recent))
        return 0;
    return clip((recent - base) / (fabs(recent) + fabs(base) + 1));
}

static double lifetime_of(const struct leak_facts *facts)
{
    if (facts->freed_count < 8 || facts->freed_life_s <= 0)
        return 0.5;
    return clip((facts->live_age_s - facts->freed_life_s) / facts->freed_life_s);
}

static double scale_of(const struct leak_facts *facts)
{
    double by_count = clip(log10(1 + facts->live_count) / 2);
    double by_bytes = clip(log10(1 + facts->live_bytes / (1 << 20)) / 2.8);

    return by_count > by_bytes ? by_count : by_bytes;
}

static bool is_resident(const struct leak_series *series, const struct leak_facts *facts,
                        const struct leak_index *index)
{
    double recent = 0;

    leak_line_slope(&series->recent, &recent);
    return (index->growth < 0.05 && facts->newest_live_s <= 0.2 * facts->window_s) ||
           (index->release <= 0.3 && recent <= 0.05);
}

struct leak_index leak_index_of(const struct leak_series *series, const struct leak_facts *facts)
{
    struct leak_index index = {.points = series->all.count};
    double per_beat = facts->alloc_bytes / (double)(facts->last_beat + 1);

    index.has_slope = leak_line_slope(&series->all, &index.slope);
    index.growth = index.has_slope && per_beat > 0 ? clip(index.slope / per_beat) : 0;
    index.release = facts->alloc_bytes > 0 ? clip(facts->live_bytes / facts->alloc_bytes) : 0;
    index.lifetime = lifetime_of(facts);
    index.pattern = pattern_of(series);
    index.scale = scale_of(facts);
    index.index = 100 * (0.26 * index.growth + 0.21 * index.release + 0.12 * index.lifetime +
                         0.12 * index.pattern + 0.29 * index.scale);
    index.is_suspected = index.index >= 60;
    index.is_resident = is_resident(series, facts, &index);
    return index;
}
