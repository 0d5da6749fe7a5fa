/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the tokens of each process and asks step_period.h for their period.
 *
 * A program that loads for long and loops at its end has most of its tokens before the loop. The
 * last tokens are kept in their order, so that shorter and shorter ends of the program can be
 * asked.
 */
#include "step_finder.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "hash.h"
#include "hash_index.h"
#include "late_loop.h"
#include "leaktide/invariant.h"
#include "leaktide/profiler_step.h"
#include "list.h"
#include "step_period.h"
#include "table.h"

enum {
    TOKENS_MAX = 1 << 20,
    STEP_BYTES_LEAST = 4096,
    SHARE_LEAST = 100, /* one part of so many, of what the largest process allocates */
    OPTIMIZER_STEPS_LEAST = 5
};

struct step_finder {
    struct model *model;
    const struct named_tokens *named; /* NULL: every token */
    struct arena arena;
    struct table rows;       /* of this process: struct token_series */
    struct hash_index index; /* of rows of other tokens than sites */
    uint32_t *site_rows;     /* by site: the number of its row + 1; 0: none */
    size_t site_count;
    struct recent_tokens recent;
    uint64_t position, allocated_bytes;
    uint16_t process;
    bool has_process, is_off;
    bool has_place, place_is_host, place_is_address_space; /* of the event that came last */
    uint16_t place;
    struct found_steps *found; /* by process */
    size_t found_count;
};

static void rows_clear(struct step_finder *finder)
{
    for (size_t i = 0; i < finder->rows.count; i++) {
        const struct token_series *row = table_at(&finder->rows, i);

        if (row->token.kind == TOKEN_SITE)
            finder->site_rows[row->token.id] = 0;
    }
    arena_release(&finder->arena);
    arena_init(&finder->arena);
    table_init(&finder->rows, &finder->arena, sizeof(struct token_series));
    hash_index_release(&finder->index);
    hash_index_init(&finder->index);
    finder->position = finder->allocated_bytes = 0;
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

bool token_is_named(const struct named_tokens *named, struct step_token token)
{
    if (token.kind == TOKEN_SITE)
        return token.id < named->site_count && named->sites[token.id];
    return token.kind != TOKEN_NONE && token.kind != TOKEN_SIZE && token.id < named->text_count &&
           named->texts[token.id];
}

struct step_finder *step_finder_create_named(struct model *model, const struct named_tokens *named)
{
    struct step_finder *finder = step_finder_create(model);

    if (finder)
        finder->named = named;
    return finder;
}

void step_finder_destroy(struct step_finder *finder)
{
    if (!finder)
        return;
    hash_index_release(&finder->index);
    arena_release(&finder->arena);
    recent_tokens_release(&finder->recent);
    free(finder->site_rows);
    free(finder->found);
    free(finder);
}

static struct found_steps *found_of(struct step_finder *finder, uint16_t process)
{
    if (!list_reach(&finder->found, &finder->found_count, process, sizeof(*finder->found)))
        return NULL;
    return &finder->found[process];
}

struct found_steps step_finder_at(const struct step_finder *finder, uint16_t process)
{
    return process < finder->found_count ? finder->found[process] : (struct found_steps){0};
}

/* --- counting ------------------------------------------------------------------------------- */

/* Most events are of one place. */
static void look_at_place(struct step_finder *finder, uint16_t index)
{
    struct mt_place place;

    if (finder->has_place && finder->place == index)
        return;
    place = model_place_at(finder->model, index);
    finder->has_place = true;
    finder->place = index;
    finder->place_is_host = place.device < 0;
    finder->place_is_address_space = place.device < 0 && place.flags & MT_PLACE_VIRTUAL;
}

/* What a line of the program loads is no part of a step. What has a row is none. */
static bool is_of_load(const struct step_finder *finder, struct step_token token)
{
    return token.kind == TOKEN_SITE &&
           !(token.id < finder->site_count && finder->site_rows[token.id]) &&
           model_site_is_of_load(finder->model, (uint32_t)token.id);
}

static bool is_host_event(struct step_finder *finder, const struct event *event)
{
    if (event->kind != EVENT_ALLOC)
        return false;
    look_at_place(finder, event->place);
    return finder->place_is_host;
}

/* Mapped files, reserved addresses, names: no memory, in which nothing could be judged. */
static bool is_of_no_memory(struct step_finder *finder, const struct event *event)
{
    if (event->kind != EVENT_ALLOC)
        return false;
    look_at_place(finder, event->place);
    return finder->place_is_address_space;
}

/* NULL without a row. */
static struct token_series *row_add(struct step_finder *finder, struct step_token token,
                                    bool is_host)
{
    struct token_series *row = finder->rows.count < TOKENS_MAX ? table_add(&finder->rows) : NULL;

    if (!row)
        return NULL;
    row->token = token;
    row->is_host = is_host;
    return row;
}

/* Sites are dense, and most tokens are sites. */
static bool find_row_of_site(struct step_finder *finder, struct step_token token, bool is_host,
                             uint32_t *index)
{
    uint32_t *number;

    if (!list_reach(&finder->site_rows, &finder->site_count, token.id, sizeof(*number)))
        return false;
    number = &finder->site_rows[token.id];
    if (!*number && row_add(finder, token, is_host))
        *number = (uint32_t)finder->rows.count;
    *index = *number - 1;
    return *number > 0;
}

/* The index of the token's row, which is made if need be. */
static bool find_row(struct step_finder *finder, struct step_token token, bool is_host,
                     uint32_t *index)
{
    uint64_t hash = hash_pair(token.id, token.kind);
    size_t probe = 0;
    struct token_series *row;

    while (hash_index_next(&finder->index, hash, &probe, index)) {
        row = table_at(&finder->rows, *index);
        if (row->token.id == token.id && row->token.kind == token.kind)
            return true;
    }
    *index = (uint32_t)finder->rows.count;
    return row_add(finder, token, is_host) && hash_index_add(&finder->index, hash, *index);
}

static void count_token(struct step_finder *finder, struct step_token token, bool is_host)
{
    bool is_site = token.kind == TOKEN_SITE;
    uint32_t index;

    if (!(is_site ? find_row_of_site : find_row)(finder, token, is_host, &index) ||
        !recent_tokens_put(&finder->recent, finder->position, index)) {
        finder->is_off = true;
        return;
    }
    token_series_put(table_at(&finder->rows, index), finder->position++);
}

/* --- the period ----------------------------------------------------------------------------- */

static bool is_of_optimizer(const struct step_finder *finder, struct step_token token)
{
    return (token.kind == TOKEN_OPERATOR || token.kind == TOKEN_MARK) &&
           mt_optimizer_step(model_text_at(finder->model, (uint32_t)token.id));
}

/* A program that trained only at its start has other steps later, if any. */
static bool lasts(const struct token_series *row, uint64_t position_count)
{
    return row->last - row->first > position_count - row->last;
}

/*
 * The optimizer that steps most often. What a library does beside the training, as to evaluate
 * after each epoch, comes with a period of its own, so that the whole may have none, and the last
 * evaluation is a loop at the end. NULL: none lasts.
 */
static const struct token_series *optimizer_find(const struct step_finder *finder)
{
    const struct token_series *most = NULL;

    for (size_t i = 0; i < finder->rows.count && !finder->named; i++) {
        const struct token_series *row = table_at(&finder->rows, i);

        if (row->count >= OPTIMIZER_STEPS_LEAST && (!most || row->count > most->count) &&
            is_of_optimizer(finder, row->token) && lasts(row, finder->position))
            most = row;
    }
    return most;
}

static void find_period(struct step_finder *finder, struct found_steps *found)
{
    struct step_period period = step_period_find(&finder->rows, finder->position);

    if (!period.begins)
        period.begins = optimizer_find(finder);
    if (!period.begins)
        period = late_loop_find(&finder->rows, &finder->recent, finder->position);
    if (!period.begins)
        return;
    found->token = period.begins->token;
    found->count = period.begins->count;
    found->earlier_count = period.begins->earlier_count;
    found->confidence_percent = period.confidence_percent;
}

static void series_check(const struct token_series *row)
{
    MT_ASSERT(row->count);
    MT_ASSERT(row->first <= row->last);
    MT_ASSERT(row->last - row->first >= row->count - 1); /* one at a position */
    MT_ASSERT(row->token.kind != TOKEN_NONE);
}

/* Each position has a token. */
static void finder_check(const struct step_finder *finder)
{
    uint64_t count = 0;
    size_t site_count = 0;

    for (size_t i = 0; i < finder->rows.count; i++) {
        const struct token_series *row = table_at(&finder->rows, i);

        series_check(row);
        count += row->count;
        site_count += row->token.kind == TOKEN_SITE;
        MT_ASSERT(row->token.kind != TOKEN_SITE || finder->site_rows[row->token.id] == i + 1);
    }
    MT_ASSERT(count == finder->position);
    MT_ASSERT(finder->index.count + site_count == finder->rows.count);
}

static void found_check(const struct found_steps *found)
{
    MT_ASSERT(found->confidence_percent <= 100);
    MT_ASSERT(!found->count == (found->token.kind == TOKEN_NONE));
    MT_ASSERT(!found->has_marks || !found->count);
}

static void process_end(struct step_finder *finder)
{
    struct found_steps *found = finder->has_process ? found_of(finder, finder->process) : NULL;

    if (found) {
        if (MT_ASSERTS && !finder->is_off)
            finder_check(finder);
        found->allocated_bytes = finder->allocated_bytes;
        if (!finder->is_off && !found->has_marks)
            find_period(finder, found);
        found_check(found);
    }
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
    for (size_t i = 0; i < count; i++) {
        struct step_token token = step_token_of(&events[i]);

        if (events[i].kind == EVENT_ALLOC)
            finder->allocated_bytes += events[i].value;
        if (finder->is_off || (finder->named && !token_is_named(finder->named, token)))
            continue;
        if (events[i].kind == EVENT_STEP_BEGIN) {
            found = found_of(finder, finder->process);
            if (found)
                found->has_marks = true;
            finder->is_off = true;
        } else if (token.kind != TOKEN_NONE &&
                   (finder->named ||
                    !(is_of_no_memory(finder, &events[i]) || is_of_load(finder, token)))) {
            count_token(finder, token, is_host_event(finder, &events[i]));
        }
    }
}

/* A loop of a helper, or of a program's start, is not what the job does again and again. */
static bool is_too_small(const struct found_steps *found, uint64_t most_bytes)
{
    return found->allocated_bytes / found->count < STEP_BYTES_LEAST ||
           found->allocated_bytes < most_bytes / SHARE_LEAST;
}

void step_finder_finish(struct step_finder *finder)
{
    uint64_t most_bytes = 0;

    process_end(finder);
    for (size_t i = 0; i < finder->found_count; i++)
        if (finder->found[i].allocated_bytes > most_bytes)
            most_bytes = finder->found[i].allocated_bytes;
    for (size_t i = 0; i < finder->found_count && most_bytes && !finder->named; i++)
        if (finder->found[i].count && is_too_small(&finder->found[i], most_bytes))
            finder->found[i] = (struct found_steps){0};
}
