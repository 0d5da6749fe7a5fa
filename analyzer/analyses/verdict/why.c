/* SPDX-License-Identifier: Apache-2.0 */
#include "why.h"

#include <stdlib.h>

#include "compare.h"
#include "leaktide/invariant.h"
#include "sentence.h"
#include "thresholds.h"

enum why_unit { COUNT, BYTES };

struct why_row {
    const char *word;
    enum why_unit unit;
    const char *sentence;
};

static const struct why_row rows[WHY_COUNT] = {
#define WHY(rule, word, unit, sentence) [WHY_##rule] = {word, unit, sentence},
#include "why.def"
#undef WHY
};

static enum why_rule rule_of(const struct overdue *overdue)
{
    static const enum why_rule rules[OVERDUE_REASON_COUNT] = {
        [OVERDUE_YES] = WHY_LEAK,
        [OVERDUE_NOT_ACTIVE] = WHY_NOT_ACTIVE,
        [OVERDUE_FEW] = WHY_FEW,
        [OVERDUE_STOPPED] = WHY_STOPPED,
        [OVERDUE_LIVES_UNSEEN] = WHY_LIVES_UNSEEN,
        [OVERDUE_SLOWING] = WHY_SLOWING,
        [OVERDUE_UNEVEN] = WHY_UNEVEN,
    };

    MT_ASSERT((unsigned)overdue->reason < OVERDUE_REASON_COUNT);
    if (overdue->is_growing)
        return WHY_GROWS;
    if (overdue->births < SURVIVORS_MIN)
        return WHY_SELDOM;
    if (overdue->is_in_bursts &&
        (overdue->reason == OVERDUE_NOT_ACTIVE || overdue->reason == OVERDUE_STOPPED))
        return WHY_BURSTS;
    return rules[overdue->reason];
}

struct why why_of_stack(const struct overdue *overdue, bool is_import)
{
    enum why_rule rule = rule_of(overdue);
    struct why why = {.rule = rule,
                      .measured = overdue->measured,
                      .needed = overdue->needed,
                      .births = overdue->births,
                      .freed_age = overdue->freed_age,
                      .count = overdue->count,
                      .left_bytes = overdue->left_bytes};

    if (rule == WHY_GROWS)
        why.measured = overdue->bytes;
    if ((rule == WHY_LEAK || rule == WHY_GROWS) && is_import)
        why.rule = WHY_IMPORT;
    return why;
}

static size_t lightest(const struct why_list *list)
{
    size_t least = 0;

    for (size_t i = 1; i < list->count; i++)
        if (list->rows[i].left_bytes < list->rows[least].left_bytes)
            least = i;
    return least;
}

void why_add(struct why_list *list, const struct why *why)
{
    size_t at = list->count;

    MT_ASSERT(at <= WHY_ROWS_MOST);
    MT_ASSERT((unsigned)why->rule < WHY_COUNT);
    if (!why->left_bytes)
        return;
    if (at < WHY_ROWS_MOST) {
        list->rows[list->count++] = *why;
        return;
    }
    at = lightest(list);
    if (list->rows[at].left_bytes < why->left_bytes)
        list->rows[at] = *why;
}

static int why_compare(const void *left, const void *right)
{
    const struct why *a = left, *b = right;

    if (a->left_bytes != b->left_bytes)
        return compare_numbers(b->left_bytes, a->left_bytes);
    if (a->ledger != b->ledger)
        return compare_numbers(a->ledger, b->ledger);
    return compare_numbers(a->who.site, b->who.site);
}

void why_sort(struct why_list *list)
{
    if (list->count)
        qsort(list->rows, list->count, sizeof(*list->rows), why_compare);
}

const char *why_word(enum why_rule rule)
{
    MT_ASSERT((unsigned)rule < WHY_COUNT);
    return rows[rule].word;
}

static const char *amount(struct arena *arena, enum why_unit unit, uint64_t number)
{
    return unit == BYTES ? label_size(arena, number) : label_count(arena, number);
}

const char *why_sentence(struct arena *arena, const struct why *why)
{
    const struct why_row *row = &rows[why->rule];

    MT_ASSERT((unsigned)why->rule < WHY_COUNT);
    return sentence(arena, row->sentence, amount(arena, row->unit, why->measured),
                    amount(arena, row->unit, why->needed));
}
