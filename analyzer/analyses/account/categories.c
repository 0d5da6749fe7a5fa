/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the memory is for that was held when a ledger was highest.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "account_analyses.h"
#include "category.h"
#include "labels.h"
#include "ledger_figures.h"
#include "ledger_order.h"
#include "sentence.h"

struct share {
    uint64_t bytes, count;
    uint64_t certain_bytes; /* bytes times percent of confidence */
    uint64_t ground_bytes[GROUND_COUNT];
};

/* The mean over the bytes, rounded; at least 100 bytes. */
static uint64_t sure_percent(const struct share *share)
{
    return (share->certain_bytes + share->bytes / 200) / (share->bytes / 100);
}

struct ledger_shares {
    struct share rows[CATEGORY_COUNT];
};

static void add_groups(const struct question *question, struct ledger_shares *shares)
{
    for (size_t i = 1; i < tally_group_count(question->tally); i++) {
        struct step_sample held = group_at_peak(question->tally, i);
        struct category_guess guess;
        struct share *share;

        if (!held.count)
            continue;
        guess = category_of(question, i);
        share = &shares[tally_group_at(question->tally, i)->ledger].rows[guess.category];
        share->bytes += held.bytes;
        share->count += held.count;
        share->certain_bytes += held.bytes / 100 * guess.confidence_percent;
        share->ground_bytes[guess.ground] += held.bytes;
    }
}

/* Of what the pool alone counts nobody has to guess. */
static void add_unseen(const struct question *question, uint16_t index, struct share *rows)
{
    uint64_t bytes = ledger_figures_of(question, index).unseen_peak_bytes;

    rows[CATEGORY_OLDER].bytes += bytes;
    rows[CATEGORY_OLDER].certain_bytes += bytes;
}

static void add_ledger(const struct question *question, struct report *report,
                       struct report_table *table, uint16_t index,
                       const struct ledger_shares *shares)
{
    uint64_t whole = ledger_figures_of(question, index).peak_bytes;

    for (int i = 0; i < CATEGORY_COUNT; i++) {
        const struct share *share = &shares->rows[i];
        bool is_known = i != CATEGORY_UNKNOWN && share->bytes >= 100;
        const struct field fields[] = {
            {"category", "what for", value_word(category_name((enum category)i))},
            {"held_bytes", "held", value_bytes(share->bytes)},
            {"share_percent", "share",
             value_number(VALUE_PERCENT, share->bytes * 100 / (whole ? whole : 1))},
            {"block_count", "blocks", value_count(share->count)},
            {"confidence_percent", "sure",
             is_known ? value_number(VALUE_PERCENT, sure_percent(share)) : value_none()},
            {"ledger", "ledger", value_text(label_ledger(question, report_arena(report), index))},
        };

        if (share->count || share->bytes)
            report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

/* What most of it rests on. */
static const char *ground_of(const struct share *share)
{
    static const char *const names[GROUND_COUNT] = {
        [GROUND_LIVES] = "how long blocks live",
        [GROUND_CALLERS] = "names of functions",
        [GROUND_BACKWARD] = "what the backward pass frees",
    };
    size_t best = 0;

    for (size_t i = 1; i < GROUND_COUNT; i++)
        if (share->ground_bytes[i] > share->ground_bytes[best])
            best = i;
    return translated(names[best]);
}

/* "weights" where somebody says so. How long a block lives is seen; what it is for is guessed. */
static const char *label_part(struct report *report, enum category category,
                              const struct share *share)
{
    uint64_t percent = share->bytes >= 100 ? sure_percent(share) : 100;
    const char *label = category_label(report_arena(report), category, percent >= 100);

    if (percent >= 100)
        return label;
    return report_text(report, "%s (%" PRIu64 " %% sure, by %s)", label, percent, ground_of(share));
}

/* CATEGORY_UNKNOWN also where nothing is left. */
static enum category largest_but(const struct ledger_shares *shares, const bool *left_out)
{
    enum category best = CATEGORY_UNKNOWN;
    uint64_t best_bytes = 0;

    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (!left_out[i] && shares->rows[i].bytes > best_bytes) {
            best = (enum category)i;
            best_bytes = shares->rows[i].bytes;
        }
    return best;
}

/* The largest part, and up to two more that have at least half as much. */
static const char *label_largest(struct report *report, const struct ledger_shares *shares,
                                 enum category best)
{
    enum { MORE_MOST = 2 };
    bool left_out[CATEGORY_COUNT] = {[CATEGORY_UNKNOWN] = true};
    const char *said = label_part(report, best, &shares->rows[best]);

    left_out[best] = true;
    for (int i = 0; i < MORE_MOST; i++) {
        enum category next = largest_but(shares, left_out);
        const struct share *share = &shares->rows[next];

        if (next == CATEGORY_UNKNOWN || share->bytes < shares->rows[best].bytes / 2)
            break;
        left_out[next] = true;
        said =
            report_text(report, "%s; %s: %s", said, label_size(report_arena(report), share->bytes),
                        label_part(report, next, share));
    }
    return said;
}

static void add_verdict(const struct question *question, struct report *report, uint16_t index,
                        const struct ledger_shares *shares)
{
    static const bool nothing[CATEGORY_COUNT];
    struct arena *texts = report_arena(report);
    enum category best = largest_but(shares, nothing);
    const struct share *share = &shares->rows[best];

    if (!share->bytes)
        return;
    if (best == CATEGORY_UNKNOWN)
        report_note(
            report, 0,
            report_text(report, "%s: %s not classified: without an owner, and with too few steps",
                        label_ledger(question, texts, index), label_size(texts, share->bytes)));
    else
        report_verdict(report, RANK_MODULES, "At its peak, %s of the %s of %s: %s.",
                       label_size(texts, share->bytes),
                       label_size(texts, ledger_figures_of(question, index).peak_bytes),
                       label_ledger(question, texts, index), label_largest(report, shares, best));
}

void analyse_categories(const struct question *question, struct report *report)
{
    struct ledger_shares *shares = calloc(tally_ledger_count(question->tally) + 1, sizeof(*shares));
    struct report_table *table =
        report_table(report, "categories", "What it was for, at the peak of each ledger",
                     "Nothing was allocated.");
    size_t count;
    uint16_t *order = ledger_order(question->tally, &count);

    if (shares && order) {
        add_groups(question, shares);
        for (size_t i = 0; i < tally_ledger_count(question->tally); i++)
            add_unseen(question, (uint16_t)i, shares[i].rows);
        for (size_t i = 0; i < count && i < rows_shown(question, count); i++)
            add_ledger(question, report, table, order[i], &shares[order[i]]);
        if (count)
            add_verdict(question, report, order[0], &shares[order[0]]);
        report_table_remark(report, table,
                            "Sure: 100 %% where an owner, a pool or a module says it; else guessed "
                            "from how long blocks live over the steps, or from who asked "
                            "(docs/breakdown.md).");
    } else {
        report_note(report, 0, "breakdown: not enough memory");
    }
    free(shares);
    free(order);
}
