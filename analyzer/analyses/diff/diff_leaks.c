/* SPDX-License-Identifier: Apache-2.0 */
#include "diff_leaks.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "labels.h"
#include "sentence.h"
#include "verdict.h"

enum { spoken_most = 2 };

enum leak_state { LEAK_FIXED, LEAK_NEW, LEAK_STILL, LEAK_STATE_COUNT };

static const char *const state_words[LEAK_STATE_COUNT] = {
    [LEAK_FIXED] = "fixed", [LEAK_NEW] = "new", [LEAK_STILL] = "still leaks"};

struct leak_side {
    bool is_there;
    size_t side;
    bool is_by_turn;     /* of a loop that nobody marked */
    uint64_t rate_bytes; /* per step, or per turn; 0: not known */
    uint64_t bytes;      /* in all */
};

struct leak_row {
    uint32_t pair;
    uint64_t key;
    const char *name;
    struct leak_side base, now; /* base: of the first base that has it */
};

struct leaks {
    const struct diff_join *join;
    struct report *report;
    struct arena arena;
    struct table rows;
    enum doubt_kind base_doubt, now_doubt; /* of the bases, the first */
    bool has_failed;
};

/* --- each side by itself --------------------------------------------------------------------- */

static struct leak_row *row_for(struct leaks *leaks, uint32_t pair, uint64_t key, const char *name)
{
    struct leak_row *row;

    for (size_t i = 0; i < leaks->rows.count; i++) {
        row = table_at(&leaks->rows, i);
        if (row->pair == pair && row->key == key)
            return row;
    }
    row = table_add(&leaks->rows);
    if (row)
        *row = (struct leak_row){.pair = pair, .key = key, .name = name};
    else
        leaks->has_failed = true;
    return row;
}

static void note_leak(struct leaks *leaks, size_t side, const struct leak *leak)
{
    const struct diff_side *on = &leaks->join->sides[side];
    bool is_now = side == leaks->join->side_count - 1;
    uint32_t pair = on->pair_of_ledger[leak->ledger];
    const char *name = arena_copy(report_arena(leaks->report), leak->name);
    uint64_t key = leak->who.site ? leak->key : hash_bytes(name, strlen(name));
    struct leak_row *row = pair == UINT32_MAX ? NULL : row_for(leaks, pair, key, name);
    struct leak_side *here = row ? (is_now ? &row->now : &row->base) : NULL;

    if (!here)
        return;
    if (is_now)
        row->name = name;
    if (!here->is_there)
        *here = (struct leak_side){.is_there = true, .side = side, .is_by_turn = leak->is_by_turn};
    if (here->side != side)
        return;
    here->rate_bytes += leak->rate_bytes;
    here->bytes += leak->bytes;
}

/* *doubt: why what was not found may be there; an older doubt stays. */
static void judge_side(struct leaks *leaks, size_t side, enum doubt_kind *doubt)
{
    const struct question *question = leaks->join->sides[side].question;
    const struct verdict *verdict = verdict_borrow(question);

    leaks->has_failed |= !verdict;
    for (size_t i = 0; verdict && i < verdict->leak_count; i++)
        note_leak(leaks, side, &verdict->leaks[i]);
    if (verdict && verdict->doubt_count && *doubt == DOUBT_NONE)
        *doubt = verdict->doubts[0].kind;
    verdict_give_back(question, verdict);
}

/* --- side by side ---------------------------------------------------------------------------- */

/* False: a side that ought to tell cannot. */
static bool state_of(const struct leaks *leaks, const struct leak_row *row, enum leak_state *state)
{
    *state = row->base.is_there ? (row->now.is_there ? LEAK_STILL : LEAK_FIXED) : LEAK_NEW;
    return *state == LEAK_STILL ||
           (*state == LEAK_FIXED ? leaks->now_doubt : leaks->base_doubt) == DOUBT_NONE;
}

/* "1.00 MiB per step", or all of it where nothing tells how fast. */
static const char *rate_words(struct report *report, struct leak_side leak)
{
    uint64_t bytes = leak.rate_bytes ? leak.rate_bytes : leak.bytes;
    const char *per = translated(leak.is_by_turn ? "per turn" : "per step");

    return report_text(report, "%s %s", label_size(report_arena(report), bytes),
                       leak.rate_bytes ? per : translated("in all"));
}

static const char *sentence_of(const struct leaks *leaks, const struct leak_row *row,
                               enum leak_state state)
{
    struct report *report = leaks->report;

    switch (state) {
    case LEAK_FIXED:
        return report_text(report, "FIXED: %s leaked %s, and does not any more.", row->name,
                           rate_words(report, row->base));
    case LEAK_NEW:
        return report_text(report, "NEW LEAK: %s leaks %s, and did not before.", row->name,
                           rate_words(report, row->now));
    default:
        return report_text(report, "STILL LEAKS: %s, %s (was %s).", row->name,
                           rate_words(report, row->now), rate_words(report, row->base));
    }
}

static const char *ledger_label(const struct leaks *leaks, const struct leak_row *row)
{
    return diff_pair_label(leaks->join, row->pair, report_arena(leaks->report));
}

static void add_row(const struct leaks *leaks, struct report_table *table,
                    const struct leak_row *row, enum leak_state state)
{
    const struct leak_side *base = &row->base, *now = &row->now;
    const struct field fields[] = {
        {"state", "state", value_word(state_words[state])},
        {"base_growth_bytes_per_step", "base, per step",
         base->rate_bytes ? value_bytes(base->rate_bytes) : value_none()},
        {"growth_bytes_per_step", "now",
         now->rate_bytes ? value_bytes(now->rate_bytes) : value_none()},
        {"base_bytes", "base, in all", base->is_there ? value_bytes(base->bytes) : value_none()},
        {"bytes", "now", now->is_there ? value_bytes(now->bytes) : value_none()},
        {"site", "site", value_site(row->name)},
        {"ledger", "ledger", value_text(ledger_label(leaks, row))},
    };

    report_row(leaks->report, table, fields, sizeof(fields) / sizeof(fields[0]));
    if (state == LEAK_NEW) {
        report_finding(leaks->report, "new_leak", sentence_of(leaks, row, state), fields,
                       sizeof(fields) / sizeof(fields[0]));
        report_outcome(leaks->report, REPORT_FOUND);
    }
}

static uint64_t weight_of(const struct leak_row *row)
{
    return row->now.is_there ? row->now.bytes : row->base.bytes;
}

static int row_compare(const void *left, const void *right)
{
    const struct leak_row *a = left, *b = right;

    if (weight_of(a) != weight_of(b))
        return weight_of(a) > weight_of(b) ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void say_state(const struct leaks *leaks, const struct leak_row *rows, size_t count,
                      enum leak_state wanted, int rank)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        enum leak_state state;

        if (!state_of(leaks, &rows[i], &state) || state != wanted)
            continue;
        if (found++ < spoken_most)
            report_verdict(leaks->report, rank, "%s", sentence_of(leaks, &rows[i], state));
    }
    if (found > spoken_most)
        report_verdict(leaks->report, rank, "... and %zu more: %s.", found - spoken_most,
                       state_words[wanted]);
}

/* The heaviest one that is there now, where the base cannot tell whether it is new. */
static const struct leak_row *heaviest_now(const struct leaks *leaks, const struct leak_row *rows,
                                           size_t count)
{
    for (size_t i = 0; leaks->base_doubt != DOUBT_NONE && i < count; i++)
        if (rows[i].now.is_there && !rows[i].base.is_there)
            return &rows[i];
    return NULL;
}

static void say_unjudged(const struct leaks *leaks, const struct leak_row *rows, size_t count,
                         struct diff_leak_ranks ranks)
{
    const struct leak_row *now = heaviest_now(leaks, rows, count);

    if (now)
        report_verdict(leaks->report, ranks.found,
                       "LEAK: %s leaks %s; the base told too little to say whether that is new.",
                       now->name, rate_words(leaks->report, now->now));
    else if (leaks->base_doubt != DOUBT_NONE || leaks->now_doubt != DOUBT_NONE)
        report_verdict(
            leaks->report, ranks.nothing, "LEAKS: cannot say what is new or fixed; of %s: %s.",
            translated(leaks->base_doubt == DOUBT_NONE  ? "the recording"
                       : leaks->now_doubt == DOUBT_NONE ? "the base"
                                                        : "both sides"),
            doubt_reason(leaks->now_doubt != DOUBT_NONE ? leaks->now_doubt : leaks->base_doubt));
    else if (!count)
        report_verdict(leaks->report, ranks.nothing, "LEAKS: none before, and none now.");
}

static bool write_all(struct leaks *leaks, struct diff_leak_ranks ranks)
{
    struct report_table *table =
        report_table(leaks->report, "leak_changes", "Leaks side by side", NULL);
    size_t count = leaks->rows.count;
    struct leak_row *rows = malloc((count + 1) * sizeof(*rows));

    if (!rows)
        return false;
    for (size_t i = 0; i < count; i++)
        rows[i] = *(const struct leak_row *)table_at(&leaks->rows, i);
    qsort(rows, count, sizeof(*rows), row_compare);
    for (size_t i = 0; i < count; i++) {
        enum leak_state state;

        if (state_of(leaks, &rows[i], &state))
            add_row(leaks, table, &rows[i], state);
    }
    say_state(leaks, rows, count, LEAK_NEW, ranks.found);
    say_state(leaks, rows, count, LEAK_STILL, ranks.found);
    say_state(leaks, rows, count, LEAK_FIXED, ranks.found);
    say_unjudged(leaks, rows, count, ranks);
    free(rows);
    return true;
}

bool diff_leaks(const struct diff_join *join, struct report *report, struct diff_leak_ranks ranks)
{
    struct leaks leaks = {.join = join, .report = report};
    size_t last = join->side_count - 1;
    bool is_written = false;

    arena_init(&leaks.arena);
    table_init(&leaks.rows, &leaks.arena, sizeof(struct leak_row));
    for (size_t side = 0; side < last; side++)
        judge_side(&leaks, side, &leaks.base_doubt);
    judge_side(&leaks, last, &leaks.now_doubt);
    if (!leaks.has_failed)
        is_written = write_all(&leaks, ranks);
    arena_release(&leaks.arena);
    return is_written;
}
