/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines up the allocations of operators.
 *
 * An element of a sequence is one allocation, its token the operator. What the alignment leaves
 * over is looked for elsewhere: the same operator and size is moved, the same operator is resized,
 * all else is new or gone.
 */
#include "diff_order.h"

#include <stdlib.h>

#include "sequence_diff.h"

struct line {
    uint32_t *tokens;
    uint64_t *sizes;
    size_t count;
};

/* An element that has no partner yet. */
struct rest {
    uint32_t token;
    uint32_t index;
    uint64_t size_bytes;
};

static uint32_t pair_of_birth(const struct diff_side *side, const struct held_birth *birth)
{
    return side->pair_of_ledger[tally_group_at(side->question->tally, birth->group)->ledger];
}

static bool line_make(struct diff_join *join, size_t index, uint32_t pair, struct line *line)
{
    struct diff_side *side = &join->sides[index];
    size_t count = 0;

    for (size_t i = 0; i < side->held.birth_count; i++)
        count += pair_of_birth(side, &side->held.births[i]) == pair;
    line->count = 0;
    line->tokens = malloc((count + 1) * sizeof(*line->tokens));
    line->sizes = malloc((count + 1) * sizeof(*line->sizes));
    for (size_t i = 0; line->tokens && line->sizes && i < side->held.birth_count; i++) {
        const struct held_birth *birth = &side->held.births[i];
        const struct group_detail *detail;

        if (pair_of_birth(side, birth) != pair)
            continue;
        detail = tally_detail_at(side->question->tally, birth->group);
        line->sizes[line->count] = birth->size_bytes;
        line->tokens[line->count++] = diff_name(join, index, detail->operator_text);
    }
    return line->tokens && line->sizes && !join->has_failed;
}

static void line_release(struct line *line)
{
    free(line->tokens);
    free(line->sizes);
}

static struct diff_order *order_of(struct diff_join *join, uint32_t pair, uint32_t token)
{
    struct diff_row *row = diff_row_find(join, DIFF_OPERATORS, pair, token);

    if (row && !row->order)
        row->order = arena_alloc(&join->arena, sizeof(*row->order));
    return row ? row->order : NULL;
}

static int rest_compare(const void *left, const void *right)
{
    const struct rest *a = left, *b = right;

    if (a->token != b->token)
        return a->token > b->token ? 1 : -1;
    if (a->size_bytes != b->size_bytes)
        return a->size_bytes > b->size_bytes ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static int rest_order(const struct rest *a, const struct rest *b, bool by_size)
{
    if (a->token != b->token)
        return a->token > b->token ? 1 : -1;
    return by_size ? (a->size_bytes > b->size_bytes) - (a->size_bytes < b->size_bytes) : 0;
}

struct rests {
    struct rest *base, *current;
    size_t base_count, current_count;
};

/* Those that agree are partners, and are taken out; what is left stays in order. */
static void take_partners(struct diff_join *join, uint32_t pair, struct rests *rests, bool by_size)
{
    size_t b = 0, c = 0, kept_base = 0, kept_current = 0;

    while (b < rests->base_count || c < rests->current_count) {
        int order = b == rests->base_count ? 1
                    : c == rests->current_count
                        ? -1
                        : rest_order(&rests->base[b], &rests->current[c], by_size);

        if (order == 0) {
            struct diff_order *row = order_of(join, pair, rests->base[b].token);

            if (row)
                *(by_size ? &row->moved_count : &row->resized_count) += 1;
            b++;
            c++;
        } else if (order < 0) {
            rests->base[kept_base++] = rests->base[b++];
        } else {
            rests->current[kept_current++] = rests->current[c++];
        }
    }
    rests->base_count = kept_base;
    rests->current_count = kept_current;
}

static void count_matches(struct diff_join *join, uint32_t pair, const struct line *base,
                          const struct line *current, const uint32_t *matches, struct rests *rests)
{
    unsigned char *is_taken = calloc(current->count + 1, 1);

    for (uint32_t i = 0; is_taken && i < base->count; i++) {
        struct diff_order *row;

        if (matches[i] == SEQUENCE_UNMATCHED) {
            rests->base[rests->base_count++] = (struct rest){base->tokens[i], i, base->sizes[i]};
            continue;
        }
        is_taken[matches[i]] = 1;
        row = order_of(join, pair, base->tokens[i]);
        if (row && base->sizes[i] == current->sizes[matches[i]])
            row->same_count++;
        else if (row)
            row->resized_count++;
    }
    for (uint32_t i = 0; is_taken && i < current->count; i++)
        if (!is_taken[i])
            rests->current[rests->current_count++] =
                (struct rest){current->tokens[i], i, current->sizes[i]};
    join->has_failed |= !is_taken;
    free(is_taken);
}

static void count_rests(struct diff_join *join, uint32_t pair, struct rests *rests)
{
    qsort(rests->base, rests->base_count, sizeof(*rests->base), rest_compare);
    qsort(rests->current, rests->current_count, sizeof(*rests->current), rest_compare);
    take_partners(join, pair, rests, true);
    take_partners(join, pair, rests, false);
    for (size_t i = 0; i < rests->base_count; i++) {
        struct diff_order *row = order_of(join, pair, rests->base[i].token);

        if (row)
            row->gone_count++;
    }
    for (size_t i = 0; i < rests->current_count; i++) {
        struct diff_order *row = order_of(join, pair, rests->current[i].token);

        if (row)
            row->new_count++;
    }
}

static bool line_up(struct diff_join *join, uint32_t pair, const struct line *base,
                    const struct line *current)
{
    struct sequence a = {base->tokens, base->count}, b = {current->tokens, current->count};
    uint32_t *matches = malloc((base->count + 1) * sizeof(*matches));
    struct rests rests = {.base = malloc((base->count + 1) * sizeof(struct rest)),
                          .current = malloc((current->count + 1) * sizeof(struct rest))};
    bool is_done =
        matches && rests.base && rests.current && sequence_diff(a, b, join->names.count, matches);

    if (is_done) {
        count_matches(join, pair, base, current, matches, &rests);
        count_rests(join, pair, &rests);
    }
    free(rests.base);
    free(rests.current);
    free(matches);
    return is_done && !join->has_failed;
}

bool diff_order_operators(struct diff_join *join)
{
    size_t last = join->side_count - 1;
    bool is_good = true;

    for (uint32_t pair = 0; is_good && pair < join->pairs.count; pair++) {
        struct line base = {0}, current = {0};

        is_good = line_make(join, 0, pair, &base) && line_make(join, last, pair, &current);
        if (is_good && (base.count || current.count))
            is_good = line_up(join, pair, &base, &current);
        line_release(&base);
        line_release(&current);
    }
    return is_good;
}
