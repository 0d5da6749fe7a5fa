/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements step_period.h: how regular a token is, and what it explains of all the others.
 */
#include "step_period.h"

#include "leaktide/invariant.h"

enum {
    OCCURRENCES_LEAST = 5,
    CANDIDATES_MAX = 64,
    CONFIDENCE_LEAST = 85, /* percent */
    CONFIDENCE_NEAR_BEST = 98,
    PERIODS_OF_EDGE = 2
};

void token_series_put(struct token_series *series, uint64_t position)
{
    double gap;

    if (series->count) {
        MT_ASSERT(series->last < position);
        gap = (double)(position - series->last);
        series->gap_squares += gap * gap;
    } else {
        series->first = position;
    }
    series->count++;
    series->last = position;
}

double token_series_period(const struct token_series *row)
{
    MT_ASSERT(row->count > 1);
    MT_ASSERT(row->first < row->last);
    return (double)(row->last - row->first) / (double)(row->count - 1);
}

bool token_series_is_regular(const struct token_series *row)
{
    double mean;

    if (row->count < OCCURRENCES_LEAST)
        return false;
    mean = token_series_period(row);
    return row->gap_squares / (double)(row->count - 1) <= 1.5 * mean * mean;
}

static bool is_explained(const struct token_series *row, const struct token_series *anchor)
{
    uint64_t n = anchor->count, times = (row->count + n / 2) / n;
    double edge = PERIODS_OF_EDGE * token_series_period(anchor);
    uint64_t even = times * n, off = row->count > even ? row->count - even : even - row->count;

    return times && off <= times && (double)row->first <= (double)anchor->first + edge &&
           (double)row->last + edge >= (double)anchor->last;
}

/* What is over when the loop begins, or begins when it is over; if that is a small part of all. */
static bool is_outside(const struct token_series *row, const struct token_series *anchor,
                       uint64_t position_count)
{
    double edge = PERIODS_OF_EDGE * token_series_period(anchor), all = (double)position_count;

    return ((double)row->last < (double)anchor->first + edge && (double)anchor->first < all / 4) ||
           ((double)row->first > (double)anchor->last - edge && (double)anchor->last > all * 3 / 4);
}

static bool takes_part(const struct token_series *row, bool with_host)
{
    return row->count >= OCCURRENCES_LEAST && (with_host || !row->is_host);
}

static unsigned confidence_of(const struct table *rows, uint64_t position_count,
                              const struct token_series *anchor, bool with_host)
{
    size_t all = 0, explained = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct token_series *row = table_at(rows, i);

        if (!takes_part(row, with_host) || is_outside(row, anchor, position_count))
            continue;
        all++;
        explained += is_explained(row, anchor);
    }
    return all ? (unsigned)(explained * 100 / all) : 0;
}

/* Regular tokens, the first one of each number of occurrences. */
static size_t candidates_of(const struct table *rows, bool with_host,
                            const struct token_series **candidates)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct token_series *row = table_at(rows, i);
        size_t same = 0;

        if (!takes_part(row, with_host) || !token_series_is_regular(row))
            continue;
        while (same < count && candidates[same]->count != row->count)
            same++;
        if (same == count && count < CANDIDATES_MAX)
            candidates[count++] = row;
    }
    return count;
}

static bool has_device_tokens(const struct table *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct token_series *row = table_at(rows, i);

        if (row->count >= OCCURRENCES_LEAST && !row->is_host && row->token.kind <= TOKEN_SIZE)
            return true;
    }
    return false;
}

struct step_period step_period_find(const struct table *rows, uint64_t position_count)
{
    const struct token_series *candidates[CANDIDATES_MAX];
    struct step_period best = {0};
    unsigned confidences[CANDIDATES_MAX], highest = 0;
    bool with_host = !has_device_tokens(rows);
    size_t count = candidates_of(rows, with_host, candidates);

    for (size_t i = 0; i < count; i++) {
        confidences[i] = confidence_of(rows, position_count, candidates[i], with_host);
        highest = confidences[i] > highest ? confidences[i] : highest;
    }
    if (highest < CONFIDENCE_LEAST)
        return best;
    for (size_t i = 0; i < count; i++) {
        if (confidences[i] * 100 < highest * CONFIDENCE_NEAR_BEST ||
            (best.begins && candidates[i]->count <= best.begins->count))
            continue;
        best.begins = candidates[i];
        best.confidence_percent = confidences[i];
    }
    return best;
}
