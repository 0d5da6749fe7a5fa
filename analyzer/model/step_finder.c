/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The period with which tokens come.
 *
 * Positions count tokens, not events or time, so that it does not matter how long a step takes or
 * how much is freed.
 */
#include "step_finder.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "hash.h"
#include "hash_index.h"
#include "table.h"

enum {
    OCCURRENCES_LEAST = 5,
    TOKENS_MAX = 1 << 20,
    CANDIDATES_MAX = 64,
    CONFIDENCE_LEAST = 85, /* percent */
    CONFIDENCE_NEAR_BEST = 98,
    PERIODS_OF_EDGE = 2
};

struct token_row {
    struct step_token token;
    bool is_host;
    uint64_t count, first, last; /* positions */
    double gap_squares;
};

struct step_finder {
    struct model *model;
    struct arena arena;
    struct table rows; /* of this process */
    struct hash_index index;
    uint64_t position;
    uint16_t process;
    bool has_process, is_off;
    struct found_steps *found; /* by process */
    size_t found_count;
};

static void rows_clear(struct step_finder *finder)
{
    arena_release(&finder->arena);
    arena_init(&finder->arena);
    table_init(&finder->rows, &finder->arena, sizeof(struct token_row));
    hash_index_release(&finder->index);
    hash_index_init(&finder->index);
    finder->position = 0;
    finder->is_off = false;
}

struct step_finder *step_finder_create(struct model *model)
{
    struct step_finder *finder = calloc(1, sizeof(*finder));

    if (!finder)
        return NULL;
    finder->model = model;
    arena_init(&finder->arena);
    rows_clear(finder);
    return finder;
}

void step_finder_destroy(struct step_finder *finder)
{
    if (!finder)
        return;
    hash_index_release(&finder->index);
    arena_release(&finder->arena);
    free(finder->found);
    free(finder);
}

static struct found_steps *found_of(struct step_finder *finder, uint16_t process)
{
    if (process >= finder->found_count) {
        size_t count = (size_t)process + 1;
        struct found_steps *larger = realloc(finder->found, count * sizeof(*larger));

        if (!larger)
            return NULL;
        memset(larger + finder->found_count, 0, (count - finder->found_count) * sizeof(*larger));
        finder->found = larger;
        finder->found_count = count;
    }
    return &finder->found[process];
}

struct found_steps step_finder_at(const struct step_finder *finder, uint16_t process)
{
    return process < finder->found_count ? finder->found[process] : (struct found_steps){0};
}

/* --- counting ------------------------------------------------------------------------------- */

static bool is_host_event(const struct step_finder *finder, const struct event *event)
{
    struct mt_place place;

    if (event->kind != EVENT_ALLOC)
        return false;
    place = model_place_at(finder->model, event->place);
    return place.device < 0;
}

static struct token_row *row_of(struct step_finder *finder, struct step_token token)
{
    uint64_t hash = hash_pair(token.id, token.kind);
    size_t probe = 0;
    uint32_t found;
    struct token_row *row;

    while (hash_index_next(&finder->index, hash, &probe, &found)) {
        row = table_at(&finder->rows, found);
        if (row->token.id == token.id && row->token.kind == token.kind)
            return row;
    }
    if (finder->rows.count >= TOKENS_MAX)
        return NULL;
    row = table_add(&finder->rows);
    if (!row || !hash_index_add(&finder->index, hash, (uint32_t)(finder->rows.count - 1)))
        return NULL;
    row->token = token;
    return row;
}

static void count_token(struct step_finder *finder, struct step_token token, bool is_host)
{
    struct token_row *row = row_of(finder, token);
    double gap;

    if (!row) {
        finder->is_off = true;
        return;
    }
    if (row->count) {
        gap = (double)(finder->position - row->last);
        row->gap_squares += gap * gap;
    } else {
        row->first = finder->position;
        row->is_host = is_host;
    }
    row->count++;
    row->last = finder->position++;
}

/* --- the period ----------------------------------------------------------------------------- */

static double period_of(const struct token_row *row)
{
    return (double)(row->last - row->first) / (double)(row->count - 1);
}

static bool is_regular(const struct token_row *row)
{
    double mean;

    if (row->count < OCCURRENCES_LEAST)
        return false;
    mean = period_of(row);
    return row->gap_squares / (double)(row->count - 1) <= 1.5 * mean * mean;
}

static bool is_explained(const struct token_row *row, const struct token_row *anchor)
{
    uint64_t n = anchor->count, times = (row->count + n / 2) / n;
    double edge = PERIODS_OF_EDGE * period_of(anchor);
    uint64_t even = times * n, off = row->count > even ? row->count - even : even - row->count;

    return times && off <= times && (double)row->first <= (double)anchor->first + edge &&
           (double)row->last + edge >= (double)anchor->last;
}

/* What is over when the loop begins, or begins when it is over; if that is a small part of all. */
static bool is_outside(const struct step_finder *finder, const struct token_row *row,
                       const struct token_row *anchor)
{
    double edge = PERIODS_OF_EDGE * period_of(anchor), all = (double)finder->position;

    return ((double)row->last < (double)anchor->first + edge && (double)anchor->first < all / 4) ||
           ((double)row->first > (double)anchor->last - edge && (double)anchor->last > all * 3 / 4);
}

static bool takes_part(const struct token_row *row, bool with_host)
{
    return row->count >= OCCURRENCES_LEAST && (with_host || !row->is_host);
}

static unsigned confidence_of(const struct step_finder *finder, const struct token_row *anchor,
                              bool with_host)
{
    size_t all = 0, explained = 0;

    for (size_t i = 0; i < finder->rows.count; i++) {
        const struct token_row *row = table_at(&finder->rows, i);

        if (!takes_part(row, with_host) || is_outside(finder, row, anchor))
            continue;
        all++;
        explained += is_explained(row, anchor);
    }
    return all ? (unsigned)(explained * 100 / all) : 0;
}

/* Regular tokens, the first one of each number of occurrences. */
static size_t candidates_of(const struct step_finder *finder, bool with_host,
                            const struct token_row **candidates)
{
    size_t count = 0;

    for (size_t i = 0; i < finder->rows.count; i++) {
        const struct token_row *row = table_at(&finder->rows, i);
        size_t same = 0;

        if (!takes_part(row, with_host) || !is_regular(row))
            continue;
        while (same < count && candidates[same]->count != row->count)
            same++;
        if (same == count && count < CANDIDATES_MAX)
            candidates[count++] = row;
    }
    return count;
}

static bool has_device_tokens(const struct step_finder *finder)
{
    for (size_t i = 0; i < finder->rows.count; i++) {
        const struct token_row *row = table_at(&finder->rows, i);

        if (row->count >= OCCURRENCES_LEAST && !row->is_host && row->token.kind <= TOKEN_SIZE)
            return true;
    }
    return false;
}

static void find_period(const struct step_finder *finder, struct found_steps *found)
{
    const struct token_row *candidates[CANDIDATES_MAX], *best = NULL;
    unsigned confidences[CANDIDATES_MAX], highest = 0;
    bool with_host = !has_device_tokens(finder);
    size_t count = candidates_of(finder, with_host, candidates);

    for (size_t i = 0; i < count; i++) {
        confidences[i] = confidence_of(finder, candidates[i], with_host);
        highest = confidences[i] > highest ? confidences[i] : highest;
    }
    if (highest < CONFIDENCE_LEAST)
        return;
    for (size_t i = 0; i < count; i++) {
        if (confidences[i] * 100 < highest * CONFIDENCE_NEAR_BEST ||
            (best && candidates[i]->count <= best->count))
            continue;
        best = candidates[i];
        found->confidence_percent = confidences[i];
    }
    found->token = best->token;
    found->count = best->count;
}

static void process_end(struct step_finder *finder)
{
    struct found_steps *found = finder->has_process ? found_of(finder, finder->process) : NULL;

    if (found && !finder->is_off && !found->has_marks)
        find_period(finder, found);
    rows_clear(finder);
    finder->has_process = false;
}

void step_finder_feed(struct step_finder *finder, const struct event *events, size_t count)
{
    struct found_steps *found;

    if (!count)
        return;
    if (finder->has_process && finder->process != events[0].process)
        process_end(finder);
    finder->has_process = true;
    finder->process = events[0].process;
    for (size_t i = 0; i < count && !finder->is_off; i++) {
        struct step_token token = step_token_of(&events[i]);

        if (events[i].kind == EVENT_STEP_BEGIN) {
            found = found_of(finder, finder->process);
            if (found)
                found->has_marks = true;
            finder->is_off = true;
        } else if (token.kind != TOKEN_NONE) {
            count_token(finder, token, is_host_event(finder, &events[i]));
        }
    }
}

void step_finder_finish(struct step_finder *finder)
{
    process_end(finder);
}
