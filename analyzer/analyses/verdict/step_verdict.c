/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a site's memory does from step to step.
 */
#include "step_verdict.h"

#include <string.h>

#include "births.h"
#include "thresholds.h"

const char *step_verdict_name(enum step_verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        [VERDICT_LEAK] = "leak",           [VERDICT_LIGHT] = "light growth",
        [VERDICT_CACHE] = "growing cache", [VERDICT_SAWTOOTH] = "sawtooth",
        [VERDICT_UNSURE] = "cannot say",   [VERDICT_TEMPORARY] = "temporary over the boundary",
        [VERDICT_STABLE] = "stable",
    };

    return names[verdict];
}

/* How far it goes up and down. */
struct shape {
    uint64_t low, high;
    uint64_t deepest_fall; /* from any value to a later one */
    size_t turns;          /* rising after falling, falling after rising */
};

static struct shape shape_of(const uint64_t *values, size_t count)
{
    struct shape shape = {.low = values[0], .high = values[0]};
    uint64_t highest_so_far = values[0];
    int direction = 0;

    for (size_t i = 1; i < count; i++) {
        int change = (values[i] > values[i - 1]) - (values[i] < values[i - 1]);

        shape.turns += change && direction && change != direction;
        direction = change ? change : direction;
        highest_so_far = values[i] > highest_so_far ? values[i] : highest_so_far;
        if (highest_so_far - values[i] > shape.deepest_fall)
            shape.deepest_fall = highest_so_far - values[i];
        shape.low = values[i] < shape.low ? values[i] : shape.low;
    }
    shape.high = highest_so_far;
    return shape;
}

/* Falls by most of what it rises, slowly enough not to be noise, and not by a trifle. */
static bool is_sawtooth(const struct shape *shape, size_t count)
{
    uint64_t range = shape->high - shape->low;

    return range && shape->deepest_fall > range / MOST_SHARE && shape->turns >= SEVERAL_MIN &&
           shape->turns <= count / MOST_SHARE && range >= shape->high / FEW_SHARE;
}

/* All steps, or all but a few, rise, and those of the end as well as the others. */
static bool grows_steadily(const struct step_history *history, const struct trend *trend)
{
    const uint64_t *values = history->alive_bytes;
    size_t last = history->count - 1, third = history->count / THIRD_SHARE;
    int64_t pairs = (int64_t)(history->count * (history->count - 1) / 2);

    return values[last] > values[0] && trend->rise_chance < SURE_CHANCE_MAX &&
           trend->score >= pairs - pairs / FEW_SHARE &&
           (values[last] - values[last - third]) * STILL_SHARE >= values[last] - values[0];
}

static uint64_t mean_of(const uint64_t *values, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i] / count;
    return sum;
}

/*
 * Blocks of any age are freed, and what is alive rises less and less: slots that fill, where what
 * comes throws out what was there. The first third is warm-up.
 */
static bool fills_up(const struct step_history *history)
{
    size_t third = history->count / THIRD_SHARE;
    const uint64_t *values = history->alive_bytes + history->count - 1;
    uint64_t last = values[0], before = *(values - third), first = *(values - 2 * third);
    uint64_t risen = before > first ? before - first : 0;

    return history->freed_age > third && risen && last < before + risen - risen / LARGE_SHARE;
}

/*
 * A cache that is full frees a block for each it makes: its oldest may be older than any it freed
 * yet, but the whole does not grow. What leaks makes it grow from one third to the next, by at
 * least a quarter of what its survivors promise.
 */
static bool grows_as_a_whole(const struct step_history *history,
                             const struct step_judgement *judgement)
{
    size_t third = history->count / THIRD_SHARE;
    const uint64_t *last = history->alive_bytes + history->count - third;
    uint64_t middle_mean = mean_of(last - third, third), last_mean = mean_of(last, third);
    uint64_t promised = judgement->overdue_bytes / judgement->overdue_entries * third;

    return last_mean > middle_mean && last_mean - middle_mean >= promised / LARGE_SHARE &&
           !fills_up(history);
}

/* Of neighbours, so that most sites need no trend. */
static bool seldom_falls(const struct step_history *history)
{
    size_t falls = 0;

    for (size_t i = 1; i < history->count; i++)
        falls += history->alive_bytes[i] < history->alive_bytes[i - 1];
    return falls * FEW_SHARE <= history->count;
}

static bool is_leak(const struct step_history *history, struct step_judgement *judgement)
{
    struct trend trend;

    if (births_go_on(history->survivor_counts, history->survivor_bytes, judgement->overdue_entries,
                     history->site_count) &&
        (history->freed_age <= 1 || grows_as_a_whole(history, judgement)))
        return true;
    if (history->alive_bytes[history->count - 1] <= history->alive_bytes[0] ||
        !seldom_falls(history) || fills_up(history))
        return false;
    trend = trend_of(history->alive_bytes, history->count);
    judgement->is_one_growing_block = grows_steadily(history, &trend);
    return judgement->is_one_growing_block;
}

static enum step_verdict verdict_of(const struct step_history *history,
                                    const struct step_judgement *judgement)
{
    const uint64_t *values = history->alive_bytes;
    size_t last = history->count - 1;
    struct shape shape = shape_of(values, history->count);
    bool grew = values[last] > values[0];
    bool falls = shape.deepest_fall > (shape.high - shape.low) / MOST_SHARE;

    if (is_sawtooth(&shape, history->count))
        return VERDICT_SAWTOOTH;
    if (grew && !falls && judgement->kept_count &&
        judgement->kept_bytes >= (values[last] - values[0]) / MOST_SHARE)
        return VERDICT_CACHE;
    if (history->survivor_counts[last] && !judgement->kept_count)
        return VERDICT_TEMPORARY;
    return VERDICT_STABLE;
}

static void count_survivors(const struct step_history *history, struct step_judgement *judgement)
{
    size_t age = history->freed_age ? history->freed_age : 1;

    judgement->freed_age = age;
    judgement->overdue_entries = history->count > age ? history->count - age : 0;
    for (size_t i = 0; i < history->count; i++) {
        judgement->birth_count += history->survivor_counts[i] != 0;
        if (i + 1 < history->count) {
            judgement->kept_bytes += history->survivor_bytes[i];
            judgement->kept_count += history->survivor_counts[i];
        }
        if (i < judgement->overdue_entries) {
            judgement->overdue_bytes += history->survivor_bytes[i];
            judgement->overdue_count += history->survivor_counts[i];
        }
    }
}

/* What grows, entry by entry: bytes of the overdue survivors born so far, or what is alive where
 * one block grows. Returns how many entries. */
static size_t growth_of(const struct step_history *history, const struct step_judgement *judgement,
                        uint64_t *growth)
{
    uint64_t sum = 0;

    if (judgement->is_one_growing_block || judgement->verdict != VERDICT_LEAK) {
        memcpy(growth, history->alive_bytes, history->count * sizeof(*growth));
        return history->count;
    }
    for (size_t i = 0; i < judgement->overdue_entries; i++)
        growth[i] = sum += history->survivor_bytes[i];
    return judgement->overdue_entries;
}

static uint64_t positive(int64_t change)
{
    return change > 0 ? (uint64_t)change : 0;
}

/* A step in which nothing happens does not make a leak slower: where the median of all changes is
 * 0, it is the whole growth by the number of steps. */
void step_measure(const struct step_history *history, uint32_t stride,
                  struct step_judgement *judgement)
{
    uint64_t growth[TREND_MAX];
    size_t count = growth_of(history, judgement, growth);
    struct slope slope = slope_of(growth, count);

    judgement->growth_low = positive(slope.low) / stride;
    judgement->growth_high = positive(slope.high) / stride;
    judgement->growth_per_step = positive(slope.median) / stride;
    if (!judgement->growth_per_step && count > 1 && growth[count - 1] > growth[0])
        judgement->growth_per_step = (growth[count - 1] - growth[0]) / (count - 1) / stride;
    if (judgement->growth_high < judgement->growth_per_step)
        judgement->growth_high = judgement->growth_per_step;
    /* What comes and goes at the same site may hide the rise. */
    judgement->trend = trend_of(history->alive_bytes, history->count);
    if (judgement->trend.rise_chance > CHANCE_MAX)
        judgement->trend = trend_of(growth, count);
}

struct step_judgement step_judge(const struct step_history *history)
{
    struct step_judgement judgement = {.verdict = VERDICT_UNSURE};

    count_survivors(history, &judgement);
    if (history->count < STEPS_MIN)
        return judgement;
    judgement.verdict =
        is_leak(history, &judgement) ? VERDICT_LEAK : verdict_of(history, &judgement);
    return judgement;
}

struct step_judgement step_judge_known(const struct step_history *history)
{
    struct step_history known = *history;
    struct step_judgement judgement = {.verdict = VERDICT_LEAK};

    known.freed_age = 1;
    count_survivors(&known, &judgement);
    return judgement.overdue_count && history->count >= STEPS_MIN ? judgement : step_judge(history);
}
