/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a series rise?
 */
#include "trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { degree_max = TREND_EXACT_MAX * (TREND_EXACT_MAX - 1) / 2 };

/* Coefficients up to 20! fit 64 bits. */
struct polynomial {
    uint64_t coefficients[degree_max + 1];
    size_t degree;
};

static int value_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* How often each distinct value is there; returns how many distinct ones. */
static size_t ties_of(const uint64_t *values, size_t count, size_t *ties)
{
    uint64_t sorted[TREND_MAX];
    size_t distinct = 0;

    memcpy(sorted, values, count * sizeof(*values));
    qsort(sorted, count, sizeof(*sorted), value_compare);
    for (size_t i = 0; i < count; i++) {
        if (i && sorted[i] == sorted[i - 1])
            ties[distinct - 1]++;
        else
            ties[distinct++] = 1;
    }
    return distinct;
}

static int64_t score_of(const uint64_t *values, size_t count)
{
    int64_t score = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            score += (values[j] > values[i]) - (values[j] < values[i]);
    return score;
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

static double chance_normal(int64_t score, size_t count, const size_t *ties, size_t distinct)
{
    double n = (double)count;
    double variance = n * (n - 1) * (2 * n + 5);
    double z;

    for (size_t t = 0; t < distinct; t++) {
        double tied = (double)ties[t];

        variance -= tied * (tied - 1) * (2 * tied + 5);
    }
    variance /= 18;
    if (variance <= 0)
        return 1;
    z = ((double)score - 1) / sqrt(variance);
    return erfc(z / sqrt(2)) / 2;
}

static int change_compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static int64_t slope_of(const uint64_t *values, size_t count)
{
    size_t pairs = count * (count - 1) / 2, filled = 0;
    int64_t *slopes = malloc(pairs * sizeof(*slopes));
    int64_t median;

    if (!slopes)
        return 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            slopes[filled++] = (int64_t)(values[j] - values[i]) / (int64_t)(j - i);
    qsort(slopes, pairs, sizeof(*slopes), change_compare);
    median = slopes[(pairs - 1) / 2] / 2 + slopes[pairs / 2] / 2 +
             (slopes[(pairs - 1) / 2] % 2 + slopes[pairs / 2] % 2) / 2;
    free(slopes);
    return median;
}

struct trend trend_of(const uint64_t *values, size_t count)
{
    struct trend trend = {.score = 0, .rise_chance = 1, .slope = 0};
    size_t ties[TREND_MAX];
    size_t distinct;

    if (count < 2 || count > TREND_MAX)
        return trend;
    distinct = ties_of(values, count, ties);
    trend.score = score_of(values, count);
    trend.rise_chance = count <= TREND_EXACT_MAX
                            ? chance_exact(trend.score, ties, distinct)
                            : chance_normal(trend.score, count, ties, distinct);
    trend.slope = slope_of(values, count);
    return trend;
}
