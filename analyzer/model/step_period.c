/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements step_period.h: how regular a token is, and what it explains of all the others.
 *
 * Of a recording with many call stacks most tokens come once or twice. So those that come often
 * enough are put together first, and a candidate is given up as soon as it cannot win.
 */
#include "step_period.h"

#include <stdlib.h>

#include "leaktide/invariant.h"
#include "list.h"

enum {
    OCCURRENCES_LEAST = 5,
    CANDIDATES_MAX = 64,
    CONFIDENCE_LEAST = 85, /* percent */
    CONFIDENCE_NEAR_BEST = 98,
    CONFIDENCE_CHOSEN = CONFIDENCE_LEAST * CONFIDENCE_NEAR_BEST / 100, /* nobody below is */
    PERIODS_OF_EDGE = 2,
    SPAN_LONGER = 2 /* times: a token that goes on for longer than the loop is not the loop's */
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

/* A token that takes part. */
struct part {
    uint64_t count;
    double first, last;
    const struct token_series *row;
};

struct parts {
    struct part *rows; /* in the order of the tokens */
    size_t count, capacity;
};

/* The loop that a candidate would begin. */
struct loop {
    uint64_t count;
    double first, last, edge;
    bool has_before, has_after; /* what is over when it begins is a small part of all */
};

static bool is_explained(const struct part *part, const struct loop *loop)
{
    uint64_t times, even;

    if (part->first > loop->first + loop->edge || part->last + loop->edge < loop->last)
        return false;
    if (part->last - part->first > SPAN_LONGER * (loop->last - loop->first))
        return false;
    times = (part->count + loop->count / 2) / loop->count;
    even = times * loop->count;
    return times && (part->count > even ? part->count - even : even - part->count) <= times;
}

/* What is over when the loop begins, or begins when it is over. */
static bool is_outside(const struct part *part, const struct loop *loop)
{
    return (loop->has_before && part->last < loop->first + loop->edge) ||
           (loop->has_after && part->first > loop->last - loop->edge);
}

static struct loop loop_of(const struct token_series *anchor, uint64_t position_count)
{
    double all = (double)position_count, first = (double)anchor->first, last = (double)anchor->last;

    return (struct loop){.count = anchor->count,
                         .first = first,
                         .last = last,
                         .edge = PERIODS_OF_EDGE * token_series_period(anchor),
                         .has_before = first<all / 4, .has_after = last> all * 3 / 4};
}

/* Tokens of devices go before those of the host. */
static void keep_device(struct parts *parts)
{
    size_t kept = 0;

    for (size_t i = 0; i < parts->count; i++)
        if (!parts->rows[i].row->is_host)
            parts->rows[kept++] = parts->rows[i];
    parts->count = kept;
}

/* Empty without memory. */
static struct parts parts_of(const struct table *rows)
{
    struct parts parts = {.count = 0};
    bool has_device = false;

    for (size_t i = 0; i < rows->count; i++) {
        const struct token_series *row = table_at_sized(rows, i, sizeof(*row));

        if (row->count < OCCURRENCES_LEAST)
            continue;
        if (!list_has_room(&parts.rows, &parts.capacity, parts.count, sizeof(*parts.rows)))
            return (struct parts){.rows = parts.rows};
        parts.rows[parts.count++] =
            (struct part){row->count, (double)row->first, (double)row->last, row};
        has_device |= !row->is_host && row->token.kind <= TOKEN_SIZE;
    }
    if (has_device)
        keep_device(&parts);
    return parts;
}

/* In percent; 0 also where it is too low for a candidate to be chosen. */
static unsigned confidence_of(const struct parts *parts, uint64_t position_count,
                              const struct token_series *anchor)
{
    const struct loop loop = loop_of(anchor, position_count);
    size_t all = 0, explained = 0;
    size_t most_unexplained = parts->count * (100 - CONFIDENCE_CHOSEN) / 100;

    for (size_t i = 0; i < parts->count && all - explained <= most_unexplained; i++) {
        if (is_outside(&parts->rows[i], &loop))
            continue;
        all++;
        explained += is_explained(&parts->rows[i], &loop);
    }
    return all && all - explained <= most_unexplained ? (unsigned)(explained * 100 / all) : 0;
}

/* Regular tokens, the first one of each number of occurrences. */
static size_t candidates_of(const struct parts *parts, const struct token_series **candidates)
{
    size_t count = 0;

    for (size_t i = 0; i < parts->count; i++) {
        const struct token_series *row = parts->rows[i].row;
        size_t same = 0;

        if (!token_series_is_regular(row))
            continue;
        while (same < count && candidates[same]->count != row->count)
            same++;
        if (same == count && count < CANDIDATES_MAX)
            candidates[count++] = row;
    }
    return count;
}

/* Of those that explain nearly as much as the best, the one that comes most often. */
static struct step_period choose(const struct parts *parts, uint64_t position_count)
{
    const struct token_series *candidates[CANDIDATES_MAX];
    struct step_period best = {0};
    unsigned confidences[CANDIDATES_MAX], highest = 0;
    size_t count = candidates_of(parts, candidates);

    for (size_t i = 0; i < count; i++) {
        confidences[i] = confidence_of(parts, position_count, candidates[i]);
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

struct step_period step_period_find(const struct table *rows, uint64_t position_count)
{
    struct parts parts = parts_of(rows);
    struct step_period period = choose(&parts, position_count);

    free(parts.rows);
    return period;
}
