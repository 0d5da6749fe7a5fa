/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a series rise, and how fast?
 */
#include "trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"

enum { degree_max = TREND_EXACT_MAX * (TREND_EXACT_MAX - 1) / 2 };

/* Coefficients up to 20! fit 64 bits. */
struct polynomial {
    uint64_t coefficients[degree_max + 1];
    size_t degree;
};

/* Sorts, and counts the pairs that fall: those that stand in the wrong order. */
static uint64_t sort_counting_falls(uint64_t *values, uint64_t *spare, size_t count)
{
    size_t half = count / 2, left = 0, right = half;
    uint64_t falls;

    if (count < 2)
        return 0;
    falls = sort_counting_falls(values, spare, half) +
            sort_counting_falls(values + half, spare, count - half);
    memcpy(spare, values, count * sizeof(*values));
    for (size_t i = 0; i < count; i++) {
        if (right == count || (left < half && spare[left] <= spare[right])) {
            values[i] = spare[left++];
        } else {
            values[i] = spare[right++];
            falls += half - left;
        }
    }
    return falls;
}

/* How often each distinct value is there; returns how many distinct ones. */
static size_t ties_of(const uint64_t *sorted, size_t count, size_t *ties)
{
    size_t distinct = 0;

    for (size_t i = 0; i < count; i++) {
        if (i && sorted[i] == sorted[i - 1])
            ties[distinct - 1]++;
        else
            ties[distinct++] = 1;
    }
    return distinct;
}

/* Pairs of values that differ. */
static uint64_t pairs_of(size_t count, const size_t *ties, size_t distinct)
{
    uint64_t pairs = (uint64_t)count * (count - 1) / 2;
    size_t tied = 0;

    for (size_t t = 0; t < distinct; t++) {
        pairs -= (uint64_t)ties[t] * (ties[t] - 1) / 2;
        tied += ties[t];
    }
    MT_ASSERT(tied == count);
    return pairs;
}

/* p * (1 - q^n), as a power series: coefficients beyond the last are not needed. */
static void multiply(struct polynomial *p, size_t n)
{
    for (size_t i = degree_max + 1; i-- > n;)
        p->coefficients[i] -= p->coefficients[i - n];
}

static void divide(struct polynomial *p, size_t k)
{
    for (size_t i = k; i <= degree_max; i++)
        p->coefficients[i] += p->coefficients[i - k];
}

/*
 * Inversions of all orders of values with these ties: [n]! / ([t1]! [t2]! ...), one q-binomial
 * after the other.
 */
static void inversions_of(const size_t *ties, size_t distinct, struct polynomial *p)
{
    size_t total = 0;

    memset(p, 0, sizeof(*p));
    p->coefficients[0] = 1;
    for (size_t t = 0; t < distinct; t++) {
        for (size_t k = 1; k <= ties[t]; k++) {
            multiply(p, total + k);
            divide(p, k);
        }
        p->degree += total * ties[t];
        total += ties[t];
        MT_ASSERT(total <= TREND_EXACT_MAX);
    }
}

static double chance_exact(int64_t score, const size_t *ties, size_t distinct)
{
    struct polynomial inversions;
    double all = 0, as_high = 0;

    inversions_of(ties, distinct, &inversions);
    /* Pairs that differ = degree = rises + falls, so falls = (degree - score) / 2. */
    for (size_t falls = 0; falls <= inversions.degree; falls++) {
        double orders = (double)inversions.coefficients[falls];

        all += orders;
        if ((int64_t)inversions.degree - 2 * (int64_t)falls >= score)
            as_high += orders;
    }
    return as_high / all;
}

static double variance_of(size_t count, const size_t *ties, size_t distinct)
{
    double n = (double)count;
    double variance = n * (n - 1) * (2 * n + 5);

    for (size_t t = 0; t < distinct; t++) {
        double tied = (double)ties[t];

        variance -= tied * (tied - 1) * (2 * tied + 5);
    }
    return variance / 18;
}

static double chance_normal(int64_t score, double variance)
{
    if (variance <= 0)
        return 1;
    return erfc(((double)score - 1) / sqrt(variance) / sqrt(2)) / 2;
}

/* Of this score or a higher one. */
static double chance_of(int64_t score, size_t count, const size_t *ties, size_t distinct)
{
    return count <= TREND_EXACT_MAX ? chance_exact(score, ties, distinct)
                                    : chance_normal(score, variance_of(count, ties, distinct));
}

struct trend trend_of(const uint64_t *values, size_t count)
{
    struct trend trend = {.score = 0, .rise_chance = 1, .fall_chance = 1};
    uint64_t sorted[TREND_MAX], spare[TREND_MAX], falls;
    size_t ties[TREND_MAX], distinct;

    if (count < 2 || count > TREND_MAX)
        return trend;
    memcpy(sorted, values, count * sizeof(*values));
    falls = sort_counting_falls(sorted, spare, count);
    distinct = ties_of(sorted, count, ties);
    trend.score = (int64_t)pairs_of(count, ties, distinct) - 2 * (int64_t)falls;
    trend.rise_chance = chance_of(trend.score, count, ties, distinct);
    trend.fall_chance = chance_of(-trend.score, count, ties, distinct);
    return trend;
}

static int change_compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

/*
 * Half the width of the interval, as a rank among the sorted changes: a score that chance exceeds
 * once in 40 times, on each side. Ties of the values are left out, which widens it.
 */
static double interval_score(size_t count)
{
    static const size_t no_ties[TREND_EXACT_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int64_t score = 0, most = (int64_t)(count * (count - 1) / 2);

    if (count > TREND_EXACT_MAX)
        return 1.96 * sqrt(variance_of(count, NULL, 0));
    while (score <= most && chance_exact(score, no_ties, count) > 0.025)
        score++;
    return (double)score;
}

static int64_t middle_of(int64_t a, int64_t b)
{
    return a / 2 + b / 2 + (a % 2 + b % 2) / 2;
}

struct slope slope_of(const uint64_t *values, size_t count)
{
    size_t pairs = count * (count - 1) / 2, filled = 0, outside;
    int64_t *changes = count < 2 || count > TREND_MAX ? NULL : malloc(pairs * sizeof(*changes));
    double inside;
    struct slope slope;

    if (!changes)
        return (struct slope){0, 0, 0};
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            changes[filled++] = (int64_t)(values[j] - values[i]) / (int64_t)(j - i);
    qsort(changes, pairs, sizeof(*changes), change_compare);
    inside = interval_score(count);
    outside = (double)pairs > inside ? (size_t)(((double)pairs - inside) / 2) : 0;
    outside -= outside > 0; /* ranks count from 1 */
    slope = (struct slope){.median = middle_of(changes[(pairs - 1) / 2], changes[pairs / 2]),
                           .low = changes[outside],
                           .high = changes[pairs - 1 - outside]};
    free(changes);
    return slope;
}
