/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a site's memory does from step to step.
 */
#include "step_verdict.h"

static const double chance_limit = 0.01;

const char *step_verdict_name(enum step_verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        [VERDICT_LEAK] = "leak",
        [VERDICT_CACHE] = "growing cache",
        [VERDICT_SAWTOOTH] = "sawtooth",
        [VERDICT_UNSURE] = "cannot say",
        [VERDICT_TEMPORARY] = "temporary over the boundary",
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

/* Survivors of at least three steps, of the first half as well as of the second. */
static bool births_are_spread(const struct step_history *history)
{
    size_t half = history->count / 2, early = 0, late = 0;

    /* The last step's may be freed in the next one. */
    for (size_t i = 0; i + 1 < history->count; i++) {
        early += i < half && history->survivor_counts[i];
        late += i >= half && history->survivor_counts[i];
    }
    return early && late && early + late >= 3;
}

static bool rises_at_the_end(const struct step_history *history)
{
    size_t last = history->count - 1;
    size_t third = history->count / 3;

    return history->alive_bytes[last] > history->alive_bytes[last - third];
}

/* Falls by most of what it rises, slowly enough not to be noise, and not by a trifle. */
static bool is_sawtooth(const struct shape *shape, size_t count)
{
    uint64_t range = shape->high - shape->low;

    return range && shape->deepest_fall > range / 2 && shape->turns >= 2 &&
           shape->turns <= count / 2 && range >= shape->high / 10;
}

static enum step_verdict verdict_of(const struct step_history *history,
                                    const struct step_judgement *judgement)
{
    const uint64_t *values = history->alive_bytes;
    size_t last = history->count - 1;
    struct shape shape = shape_of(values, history->count);
    bool grew = values[last] > values[0];
    bool falls = shape.deepest_fall > (shape.high - shape.low) / 2;

    if (judgement->trend.rise_chance < chance_limit && rises_at_the_end(history) &&
        births_are_spread(history))
        return VERDICT_LEAK;
    if (is_sawtooth(&shape, history->count))
        return VERDICT_SAWTOOTH;
    if (grew && !falls && judgement->kept_count &&
        judgement->kept_bytes >= (values[last] - values[0]) / 2)
        return VERDICT_CACHE;
    if (history->survivor_counts[last] && !judgement->kept_count)
        return VERDICT_TEMPORARY;
    return VERDICT_STABLE;
}

struct step_judgement step_judge(const struct step_history *history)
{
    struct step_judgement judgement = {
        .verdict = VERDICT_UNSURE,
        .trend = trend_of(history->alive_bytes, history->count),
    };
    size_t last = history->count ? history->count - 1 : 0;

    for (size_t i = 0; i < history->count; i++) {
        judgement.birth_count += history->survivor_counts[i] != 0;
        if (i == last)
            break;
        judgement.kept_bytes += history->survivor_bytes[i];
        judgement.kept_count += history->survivor_counts[i];
    }
    if (judgement.trend.slope > 0)
        judgement.growth_per_step = (uint64_t)judgement.trend.slope;
    else if (last && history->alive_bytes[last] > history->alive_bytes[0])
        judgement.growth_per_step =
            (history->alive_bytes[last] - history->alive_bytes[0] + last - 1) / last;
    if (history->count >= STEPS_NEEDED)
        judgement.verdict = verdict_of(history, &judgement);
    return judgement;
}
