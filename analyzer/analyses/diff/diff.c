/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed? Ledgers, sites, operators, owners and modules of two recordings or steps side by
 * side.
 *
 * With several bases, a number has changed when it lies outside of all of theirs; how far is
 * counted from their median.
 */
#include "diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff_counters.h"
#include "diff_join.h"
#include "diff_leaks.h"
#include "diff_order.h"
#include "diff_spread.h"
#include "labels.h"
#include "ledger_figures.h"
#include "ledger_layers.h"
#include "recording_notes.h"
#include "sentence.h"
#include "window_account.h"

enum { causes_most = 3, names_most = 3 };

/* What is compared, one number for each side. */
enum measure { PEAK_BYTES, END_BYTES, MADE_BYTES, MADE_COUNT, MEASURE_COUNT };

enum verdict_order { ORDER_LEAKS, ORDER_PEAK, ORDER_KEPT, ORDER_OPERATORS, ORDER_MORE };

enum row_change { CHANGE_NONE, CHANGE_NEW, CHANGE_GONE, CHANGE_GROWN, CHANGE_SHRUNK, CHANGE_MOVED };

static const char *const change_words[] = {
    [CHANGE_NONE] = "as before", [CHANGE_NEW] = "new",       [CHANGE_GONE] = "gone",
    [CHANGE_GROWN] = "grown",    [CHANGE_SHRUNK] = "shrunk", [CHANGE_MOVED] = "moved",
};

struct changed_row {
    const struct diff_row *row;
    enum row_change change;
    struct spread measures[MEASURE_COUNT];
};

struct changed_pair {
    uint32_t pair;
    struct spread peak, end, reserved;
    struct spread outside_peak, outside_end; /* of the pools that lie in it */
    struct spread counted_peak, counted_end; /* by the pool itself */
    bool has_reserved, is_counted;
    bool is_reserved; /* pools lie in it */
    bool is_alone;    /* its process is on one side only: there is nothing to compare it with */
};

struct diff {
    struct diff_join *join;
    struct report *report;
    size_t top; /* 0: all */
    bool is_steps;
    struct changed_row *rows;   /* all, changed or not: largest effect on the peak first */
    struct changed_pair *pairs; /* largest change of the peak first */
};

/* --- numbers -------------------------------------------------------------------------------- */

static uint64_t number_of(const struct held_group *values, enum measure measure)
{
    switch (measure) {
    case PEAK_BYTES:
        return values->peak.bytes;
    case END_BYTES:
        return values->end.bytes;
    case MADE_BYTES:
        return values->made.bytes;
    default:
        return values->made.count;
    }
}

static enum row_change change_of(const struct diff *diff, const struct changed_row *changed)
{
    const struct held_group *values = changed->row->values;
    size_t last = diff->join->side_count - 1;
    bool was_there = false, is_there = values[last].made.count || values[last].end.count;

    for (size_t i = 0; i < last; i++)
        was_there |= values[i].made.count || values[i].end.count;
    if (is_there != was_there)
        return is_there ? CHANGE_NEW : CHANGE_GONE;
    for (int i = 0; i < MEASURE_COUNT; i++)
        if (changed->measures[i].is_changed)
            return changed->measures[i].change > 0 ? CHANGE_GROWN : CHANGE_SHRUNK;
    return CHANGE_NONE;
}

static void judge_row(const struct diff *diff, const struct diff_row *row,
                      struct changed_row *changed)
{
    uint64_t numbers[DIFF_SIDES_MOST];

    *changed = (struct changed_row){.row = row};
    for (int measure = 0; measure < MEASURE_COUNT; measure++) {
        for (size_t side = 0; side < diff->join->side_count; side++)
            numbers[side] = number_of(&row->values[side], (enum measure)measure);
        changed->measures[measure] = spread_of(numbers, diff->join->side_count);
    }
    changed->change = change_of(diff, changed);
}

static int compare_changes(struct spread a, struct spread b)
{
    uint64_t size_a = spread_size(a), size_b = spread_size(b);

    return size_a != size_b ? (size_a > size_b ? -1 : 1) : 0;
}

static int row_compare(const void *left, const void *right)
{
    const struct changed_row *a = left, *b = right;
    int result = 0;

    for (int i = 0; i < MEASURE_COUNT && !result; i++)
        result = compare_changes(a->measures[i], b->measures[i]);
    if (!result)
        result = strcmp(a->row->name, b->row->name);
    return result ? result : (a->row > b->row) - (a->row < b->row);
}

static bool is_equal_size(const struct changed_row *a, const struct changed_row *b)
{
    for (int i = 0; i < MEASURE_COUNT; i++)
        if (compare_changes(a->measures[i], b->measures[i]) != 0)
            return false;
    return true;
}

static bool is_site(const struct changed_row *row, enum row_change change, uint32_t pair)
{
    return row->change == change && row->row->axis == DIFF_SITES && row->row->pair == pair;
}

/* A site that is gone and one that is new made the same: the code has moved. Such rows are
 * neighbours. */
static void find_moved(struct diff *diff)
{
    size_t count = diff->join->rows.count, last = diff->join->side_count - 1;

    for (size_t first = 0, end; first < count; first = end) {
        size_t next = first;

        for (end = first + 1; end < count && is_equal_size(&diff->rows[first], &diff->rows[end]);)
            end++;
        for (size_t i = first; i < end && next < end; i++) {
            struct changed_row *gone = &diff->rows[i];

            if (!is_site(gone, CHANGE_GONE, gone->row->pair))
                continue;
            while (next < end && !is_site(&diff->rows[next], CHANGE_NEW, gone->row->pair))
                next++;
            if (next < end && memcmp(&gone->row->values[0], &diff->rows[next].row->values[last],
                                     sizeof(struct held_group)) == 0)
                gone->change = diff->rows[next++].change = CHANGE_MOVED;
        }
    }
}

static bool judge_rows(struct diff *diff)
{
    size_t count = diff->join->rows.count;

    diff->rows = malloc((count + 1) * sizeof(*diff->rows));
    for (size_t i = 0; diff->rows && i < count; i++)
        judge_row(diff, diff_row_at(diff->join, i), &diff->rows[i]);
    if (!diff->rows)
        return false;
    qsort(diff->rows, count, sizeof(*diff->rows), row_compare);
    find_moved(diff);
    return true;
}

/* --- ledgers -------------------------------------------------------------------------------- */

/* Where every side has the pool's own counter, older blocks are compared too. */
static void judge_counters(const struct diff *diff, const struct diff_pair *pair,
                           struct changed_pair *changed)
{
    uint64_t peak[DIFF_SIDES_MOST], end[DIFF_SIDES_MOST];

    changed->is_counted = !diff->is_steps;
    for (size_t i = 0; changed->is_counted && i < diff->join->side_count; i++) {
        const struct question *question = diff->join->sides[i].question;
        struct ledger_figures figures = {0};

        if (pair->ledgers[i] != DIFF_NO_LEDGER)
            figures = ledger_figures_of(question, pair->ledgers[i]);
        changed->is_counted = figures.has_counter;
        peak[i] = figures.peak_bytes;
        end[i] = figures.end_bytes;
    }
    if (!changed->is_counted)
        return;
    changed->counted_peak = spread_of(peak, diff->join->side_count);
    changed->counted_end = spread_of(end, diff->join->side_count);
}

/* What of the ledger is outside of the pools that lie in it. */
static void add_outside(const struct diff_side *side, uint16_t ledger, uint64_t *peak_bytes,
                        uint64_t *end_bytes)
{
    const struct question *question = side->question;

    for (uint32_t i = 1; i < side->held.group_count; i++) {
        if (tally_group_at(question->tally, i)->ledger != ledger || group_is_reserved(question, i))
            continue;
        *peak_bytes += side->held.groups[i].peak.bytes;
        *end_bytes += side->held.groups[i].end.bytes;
    }
}

static struct changed_pair judge_pair(const struct diff *diff, uint32_t index)
{
    const struct diff_pair *pair = diff_pair_at(diff->join, index);
    uint64_t peak[DIFF_SIDES_MOST] = {0}, end[DIFF_SIDES_MOST] = {0};
    uint64_t reserved[DIFF_SIDES_MOST] = {0};
    uint64_t outside_peak[DIFF_SIDES_MOST] = {0}, outside_end[DIFF_SIDES_MOST] = {0};
    struct changed_pair changed = {.pair = index,
                                   .is_alone = diff_pair_is_alone(diff->join, index)};

    for (size_t i = 0; i < diff->join->side_count; i++) {
        const struct diff_side *side = &diff->join->sides[i];
        const struct ledger *ledger;

        if (pair->ledgers[i] == DIFF_NO_LEDGER)
            continue;
        ledger = tally_ledger_at(side->question->tally, pair->ledgers[i]);
        peak[i] = side->held.ledgers[pair->ledgers[i]].peak_bytes;
        end[i] = side->held.ledgers[pair->ledgers[i]].end_bytes;
        reserved[i] = ledger->reserved_peak_bytes;
        changed.is_reserved |= ledger_is_reserved(ledger);
        add_outside(side, pair->ledgers[i], &outside_peak[i], &outside_end[i]);
        changed.has_reserved |= ledger->has_reserved && !diff->is_steps;
    }
    changed.peak = spread_of(peak, diff->join->side_count);
    changed.end = spread_of(end, diff->join->side_count);
    changed.reserved = spread_of(reserved, diff->join->side_count);
    changed.outside_peak = spread_of(outside_peak, diff->join->side_count);
    changed.outside_end = spread_of(outside_end, diff->join->side_count);
    judge_counters(diff, pair, &changed);
    return changed;
}

/* What people compare: the pool's own count where there is one. */
static struct spread shown_spread(const struct changed_pair *pair, enum measure measure)
{
    if (measure == PEAK_BYTES)
        return pair->is_counted ? pair->counted_peak : pair->peak;
    return pair->is_counted ? pair->counted_end : pair->end;
}

/* The same of what may be compared: a pool's reserved memory is the pool's. */
static struct spread judged_spread(const struct changed_pair *pair, enum measure measure)
{
    if (!pair->is_reserved)
        return shown_spread(pair, measure);
    return measure == PEAK_BYTES ? pair->outside_peak : pair->outside_end;
}

static int pair_compare(const void *left, const void *right)
{
    const struct changed_pair *a = left, *b = right;
    int result = (int)a->is_alone - (int)b->is_alone;

    if (!result)
        result = compare_changes(judged_spread(a, PEAK_BYTES), judged_spread(b, PEAK_BYTES));
    if (!result)
        result = compare_changes(judged_spread(a, END_BYTES), judged_spread(b, END_BYTES));
    if (!result && a->peak.current != b->peak.current)
        return a->peak.current > b->peak.current ? -1 : 1;
    return result ? result : (a->pair > b->pair) - (a->pair < b->pair);
}

static bool judge_pairs(struct diff *diff)
{
    size_t count = diff->join->pairs.count;

    diff->pairs = malloc((count + 1) * sizeof(*diff->pairs));
    for (uint32_t i = 0; diff->pairs && i < count; i++)
        diff->pairs[i] = judge_pair(diff, i);
    if (diff->pairs)
        qsort(diff->pairs, count, sizeof(*diff->pairs), pair_compare);
    return diff->pairs != NULL;
}

static const char *label_pair(const struct diff *diff, uint32_t index)
{
    return diff_pair_label(diff->join, index, report_arena(diff->report));
}

static void add_pairs(const struct diff *diff)
{
    struct report_table *table =
        report_table(diff->report, "ledger_changes", "Highest point, and what is kept, by ledger",
                     "Nothing was allocated on any side.");
    bool has_noise = diff->join->side_count > 2;

    for (size_t i = 0; i < diff->join->pairs.count; i++) {
        const struct changed_pair *row = &diff->pairs[i];

        if (row->is_alone)
            continue;

        const struct field fields[] = {
            {"ledger", "ledger", value_text(label_pair(diff, row->pair))},
            {"base_counted_peak_bytes", "base, as the pool counts",
             row->is_counted ? value_bytes(row->counted_peak.base) : value_none()},
            {"counted_peak_bytes", "now",
             row->is_counted ? value_bytes(row->counted_peak.current) : value_none()},
            {"counted_peak_change_bytes", "change",
             row->is_counted ? value_change(VALUE_BYTES_CHANGE, row->counted_peak.change)
                             : value_none()},
            {"base_peak_bytes", "base peak", value_bytes(row->peak.base)},
            {"peak_bytes", "peak", value_bytes(row->peak.current)},
            {"peak_change_bytes", "change", value_change(VALUE_BYTES_CHANGE, row->peak.change)},
            {"peak_noise_bytes", "noise", has_noise ? value_bytes(row->peak.noise) : value_none()},
            {"base_counted_end_bytes", "base at end, as the pool counts",
             row->is_counted ? value_bytes(row->counted_end.base) : value_none()},
            {"counted_end_bytes", "now",
             row->is_counted ? value_bytes(row->counted_end.current) : value_none()},
            {"counted_end_change_bytes", "change",
             row->is_counted ? value_change(VALUE_BYTES_CHANGE, row->counted_end.change)
                             : value_none()},
            {"base_end_bytes", "base at end", value_bytes(row->end.base)},
            {"end_bytes", "at end", value_bytes(row->end.current)},
            {"end_change_bytes", "change", value_change(VALUE_BYTES_CHANGE, row->end.change)},
            {"end_noise_bytes", "noise", has_noise ? value_bytes(row->end.noise) : value_none()},
            {"base_reserved_bytes", "base reserved",
             row->has_reserved ? value_bytes(row->reserved.base) : value_none()},
            {"reserved_bytes", "reserved",
             row->has_reserved ? value_bytes(row->reserved.current) : value_none()},
            {"reserved_change_bytes", "change",
             row->has_reserved ? value_change(VALUE_BYTES_CHANGE, row->reserved.change)
                               : value_none()},
        };

        report_row(diff->report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

/* --- rows ----------------------------------------------------------------------------------- */

static struct value id_of(const struct diff *diff, const struct diff_row *row)
{
    return row->site_id ? value_text(report_text(diff->report, "%016" PRIx64, row->site_id))
                        : value_none();
}

/* Only sites have an id. */
static void add_row(const struct diff *diff, struct report_table *table,
                    const struct changed_row *changed, const char *key)
{
    bool is_site = changed->row->axis == DIFF_SITES;
    const struct spread *measures = changed->measures;
    const struct field fields[] = {
        {"change", "change", value_word(change_words[changed->change])},
        {"peak_change_bytes", "at the peak",
         value_change(VALUE_BYTES_CHANGE, measures[PEAK_BYTES].change)},
        {"end_change_bytes", "at the end",
         value_change(VALUE_BYTES_CHANGE, measures[END_BYTES].change)},
        {"allocated_change_bytes", "allocated",
         value_change(VALUE_BYTES_CHANGE, measures[MADE_BYTES].change)},
        {"allocated_change_count", "allocs",
         value_change(VALUE_COUNT_CHANGE, measures[MADE_COUNT].change)},
        {"base_peak_bytes", "base, at its peak", value_bytes(measures[PEAK_BYTES].base)},
        {"peak_bytes", "now", value_bytes(measures[PEAK_BYTES].current)},
        {"base_allocated_count", "base allocs", value_count(measures[MADE_COUNT].base)},
        {"allocated_count", "now", value_count(measures[MADE_COUNT].current)},
        {key, key, value_site(changed->row->name)},
        {"ledger", "ledger", value_text(label_pair(diff, changed->row->pair))},
        {"site_id", "id", id_of(diff, changed->row)},
    };

    report_row(diff->report, table, fields, sizeof(fields) / sizeof(fields[0]) - !is_site);
}

static void add_axis(const struct diff *diff, enum diff_axis axis, const char *name,
                     const char *title, const char *key)
{
    struct report_table *table = report_table(diff->report, name, title, NULL);
    size_t same_count = 0, shown = 0, left_out = 0;

    for (size_t i = 0; i < diff->join->rows.count; i++) {
        const struct changed_row *row = &diff->rows[i];

        if (row->row->axis != axis || diff_pair_is_alone(diff->join, row->row->pair))
            continue;
        if (row->change == CHANGE_NONE)
            same_count++;
        else if (diff->top && shown == diff->top)
            left_out++;
        else if (++shown)
            add_row(diff, table, row, key);
    }
    if (left_out)
        report_table_remark(diff->report, table, "... and %zu more that changed.", left_out);
    if (shown && same_count)
        report_table_remark(diff->report, table, "%zu more as before.", same_count);
}

static void add_order(const struct diff *diff)
{
    struct report_table *table = report_table(
        diff->report, "operator_order", "Allocations of operators, lined up in their order", NULL);
    size_t shown = 0, left_out = 0;

    for (size_t i = 0; i < diff->join->rows.count; i++) {
        const struct diff_row *row = diff->rows[i].row;
        const struct diff_order *order = row->order;

        if (!order || diff_pair_is_alone(diff->join, row->pair) ||
            !(order->moved_count + order->resized_count + order->new_count + order->gone_count))
            continue;
        if (diff->top && shown == diff->top) {
            left_out++;
            continue;
        }
        shown++;

        const struct field fields[] = {
            {"operator", "operator", value_site(row->name)},
            {"same_count", "as before", value_count(order->same_count)},
            {"moved_count", "moved", value_count(order->moved_count)},
            {"resized_count", "other size", value_count(order->resized_count)},
            {"new_count", "new", value_count(order->new_count)},
            {"gone_count", "gone", value_count(order->gone_count)},
            {"allocated_change_bytes", "bytes",
             value_change(VALUE_BYTES_CHANGE, diff->rows[i].measures[MADE_BYTES].change)},
            {"ledger", "ledger", value_text(label_pair(diff, row->pair))},
        };

        report_row(diff->report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (left_out)
        report_table_remark(diff->report, table, "... and %zu more operators.", left_out);
}

/* --- verdict -------------------------------------------------------------------------------- */

/* "+380 MiB at forward (was 0 B), -32.0 MiB at ...": what weighs most, up or down. */
static const char *causes_of(const struct diff *diff, uint32_t pair, enum measure measure,
                             uint64_t size_bytes)
{
    struct report *report = diff->report;
    const char *text = "";
    size_t count = 0;

    for (size_t i = 0; i < diff->join->rows.count && count < causes_most; i++) {
        const struct changed_row *row = &diff->rows[i];
        struct spread moved = row->measures[measure];

        if (row->row->axis != DIFF_SITES || row->row->pair != pair || !moved.is_changed ||
            row->change == CHANGE_MOVED || spread_size(moved) < size_bytes / 20)
            continue;
        text = report_text(report, "%s%s %s at %s (was %s)", text, count++ ? "," : ":",
                           label_size_change(report_arena(report), moved.change), row->row->name,
                           label_size(report_arena(report), moved.base));
    }
    return text;
}

static struct window_account account_of(const struct diff *diff, const struct changed_pair *changed,
                                        size_t side)
{
    uint16_t ledger = diff_pair_at(diff->join, changed->pair)->ledgers[side];

    if (ledger == DIFF_NO_LEDGER)
        return (struct window_account){.is_released_known = true};
    return window_account_of(diff->join->sides[side].question->tally, ledger);
}

/* What one side gave back, and the other did not, of blocks older than the recordings. */
static const char *older_words(const struct diff *diff, const struct changed_pair *changed)
{
    struct arena *texts = report_arena(diff->report);
    struct window_account base = account_of(diff, changed, 0),
                          now = account_of(diff, changed, diff->join->side_count - 1);

    if (diff->is_steps || base.released_bytes == now.released_bytes || !base.is_released_known ||
        !now.is_released_known)
        return "";
    return report_text(
        diff->report, "; older blocks released: %s (was %s)%s",
        label_size(texts, now.released_bytes), label_size(texts, base.released_bytes),
        changed->is_counted || now.is_older_known ? ""
                                                  : translated(", which is not in these numbers"));
}

static void say_pair(const struct diff *diff, const struct changed_pair *changed,
                     enum measure measure)
{
    bool is_peak = measure == PEAK_BYTES;
    struct spread moved = judged_spread(changed, measure);
    struct report *report = diff->report;
    struct arena *texts = report_arena(report);
    const char *label = label_pair(diff, changed->pair);
    const char *sentence = report_text(
        report, "%s: %s of %s%s%s%s (%s, was %s)%s%s.", translated(is_peak ? "PEAK" : "KEPT"),
        label_size_change(report_arena(report), moved.change), label,
        changed->is_reserved ? translated(" outside of its pools") : "",
        is_peak ? "" : translated(" at the end"),
        changed->is_counted && !changed->is_reserved ? translated(" as the pool counts") : "",
        label_size(texts, moved.current), label_size(texts, moved.base),
        causes_of(diff, changed->pair, measure, spread_size(moved)),
        is_peak ? "" : older_words(diff, changed));
    const struct field facts[] = {
        {"ledger", NULL, value_text(label)},
        {"base_bytes", NULL, value_bytes(moved.base)},
        {"bytes", NULL, value_bytes(moved.current)},
        {"change_bytes", NULL, value_change(VALUE_BYTES_CHANGE, moved.change)},
        {"noise_bytes", NULL, value_bytes(moved.noise)},
    };

    report_verdict(report, is_peak ? ORDER_PEAK : ORDER_KEPT, "%s", sentence);
    if (moved.change > 0)
        report_finding(report, is_peak ? "peak_growth" : "kept_growth", sentence, facts,
                       sizeof(facts) / sizeof(facts[0]));
}

/* The ledger whose peak, or end, changed most speaks; the table has the others. */
static size_t say_pairs(const struct diff *diff, enum measure measure)
{
    const struct changed_pair *most = NULL;
    size_t count = 0;

    for (size_t i = 0; i < diff->join->pairs.count; i++) {
        const struct changed_pair *row = &diff->pairs[i];
        struct spread moved = judged_spread(row, measure);

        if (!moved.is_changed || row->is_alone)
            continue;
        count++;
        if (moved.change > 0)
            report_outcome(diff->report, REPORT_FOUND);
        if (!most || spread_size(moved) > spread_size(judged_spread(most, measure)))
            most = row;
    }
    if (most)
        say_pair(diff, most, measure);
    return count;
}

struct operator_counts {
    size_t all, by_change[CHANGE_MOVED + 1];
    const char *names[CHANGE_MOVED + 1]; /* of some of them */
};

/* The same change of the same operator, in another ledger: that of another rank. */
static bool is_told_before(const struct diff *diff, size_t index)
{
    const struct changed_row *row = &diff->rows[index];

    for (size_t i = 0; i < index; i++)
        if (diff->rows[i].row->axis == DIFF_OPERATORS && diff->rows[i].change == row->change &&
            strcmp(diff->rows[i].row->name, row->row->name) == 0)
            return true;
    return false;
}

/* An operator is judged in each ledger; the same change in several is told once. */
static struct operator_counts count_operators(const struct diff *diff)
{
    struct operator_counts counts = {.names = {"", "", "", "", "", ""}};

    for (size_t i = 0; i < diff->join->rows.count; i++) {
        const struct changed_row *row = &diff->rows[i];
        size_t before;

        if (row->row->axis != DIFF_OPERATORS || diff_pair_is_alone(diff->join, row->row->pair) ||
            is_told_before(diff, i))
            continue;
        counts.all++;
        before = counts.by_change[row->change]++;
        if (before < names_most)
            counts.names[row->change] =
                report_text(diff->report, "%s%s%s", counts.names[row->change], before ? ", " : "",
                            row->row->name);
    }
    return counts;
}

static size_t say_operators(const struct diff *diff)
{
    struct operator_counts counts = count_operators(diff);
    size_t same = counts.by_change[CHANGE_NONE];
    const char *text = "";

    if (!counts.all)
        return 0;
    for (int change = CHANGE_NEW; change < CHANGE_MOVED; change++)
        if (counts.by_change[change])
            text = report_text(diff->report, "%s%s%zu %s (%s%s)", text, *text ? ", " : " ",
                               counts.by_change[change], change_words[change], counts.names[change],
                               counts.by_change[change] > names_most ? ", ..." : "");
    if (same == counts.all)
        report_verdict(diff->report, ORDER_OPERATORS, "OPERATORS: no change in %zu.", counts.all);
    else
        report_verdict(diff->report, ORDER_OPERATORS, "OPERATORS:%s%s.", text,
                       same ? report_text(diff->report, "; %zu as before", same) : "");
    return counts.all - same;
}

static size_t compared_count(const struct diff *diff)
{
    size_t count = 0;

    for (size_t i = 0; i < diff->join->pairs.count; i++)
        count += !diff->pairs[i].is_alone;
    return count;
}

/* "rank 1 is only in b.leaktide: not compared." */
static void say_alone(const struct diff *diff)
{
    const char *told = "";

    for (size_t i = 0; i < diff->join->pairs.count; i++) {
        const struct diff_pair *pair = diff_pair_at(diff->join, diff->pairs[i].pair);
        size_t side = diff->join->side_count - 1;
        const char *process;

        if (!diff->pairs[i].is_alone)
            continue;
        while (pair->ledgers[side] == DIFF_NO_LEDGER)
            side--;
        process = label_process(
            diff->join->sides[side].question, report_arena(diff->report),
            tally_ledger_at(diff->join->sides[side].question->tally, pair->ledgers[side])->process);
        if (strcmp(process, told) == 0)
            continue;
        told = process;
        report_verdict(diff->report, ORDER_MORE, "%s is only in %s: not compared.", process,
                       diff->join->sides[side].name);
    }
}

/* What a pool reserves as it tells, or what it takes from below where it does not. */
static struct spread reserved_spread(const struct changed_pair *pair)
{
    return pair->has_reserved  ? pair->reserved
           : pair->is_reserved ? shown_spread(pair, PEAK_BYTES)
                               : (struct spread){0};
}

/* Where no block says that anything changed: the pool that reserves most more, or less. */
static size_t say_reserved(const struct diff *diff)
{
    struct arena *texts = report_arena(diff->report);
    const struct changed_pair *most = NULL;
    struct spread moved;

    for (size_t i = 0; i < diff->join->pairs.count; i++) {
        const struct changed_pair *row = &diff->pairs[i];

        moved = reserved_spread(row);
        if (moved.is_changed && !row->is_alone &&
            (!most || row->has_reserved > most->has_reserved ||
             (row->has_reserved == most->has_reserved &&
              spread_size(moved) > spread_size(reserved_spread(most)))))
            most = row;
    }
    if (!most)
        return 0;
    moved = reserved_spread(most);
    if (moved.change > 0)
        report_outcome(diff->report, REPORT_FOUND);
    report_verdict(diff->report, ORDER_PEAK,
                   "RESERVED: %s of %s (%s, was %s), and no more or less is used at once.",
                   label_size_change(texts, moved.change), label_pair(diff, most->pair),
                   label_size(texts, moved.current), label_size(texts, moved.base));
    return 1;
}

static void say_all(const struct diff *diff)
{
    size_t peaks = say_pairs(diff, PEAK_BYTES), ends = say_pairs(diff, END_BYTES);
    size_t reserved = peaks || ends ? 0 : say_reserved(diff);
    size_t operators = say_operators(diff), compared = compared_count(diff), sites = 0;

    for (size_t i = 0; i < diff->join->rows.count; i++)
        sites += diff->rows[i].row->axis == DIFF_SITES && diff->rows[i].change != CHANGE_NONE &&
                 !diff_pair_is_alone(diff->join, diff->rows[i].row->pair);
    if (!diff->join->pairs.count)
        report_verdict(diff->report, ORDER_PEAK, "Nothing was allocated on any side.");
    else if (!peaks && !ends && !reserved && compared)
        report_verdict(diff->report, ORDER_PEAK,
                       "NO CHANGE of the peak, or of what is kept, in %zu ledger%s%s.", compared,
                       compared == 1 ? "" : "s",
                       operators || !sites ? "" : translated("; but sites changed, see below"));
    if (peaks > 1 || ends > 1)
        report_verdict(diff->report, ORDER_MORE,
                       "In all, the peak changed in %zu and what is kept in %zu of %zu ledgers.",
                       peaks, ends, compared);
    say_alone(diff);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void add_facts(const struct diff *diff)
{
    struct report *report = diff->report;
    size_t last = diff->join->side_count - 1;
    const char *bases = "";

    for (size_t i = 0; i < last; i++)
        bases = report_text(report, "%s%s%s", bases, i ? ", " : "", diff->join->sides[i].name);
    report_fact(report, "base", "Base", value_text(bases));
    report_fact(report, "current", "Now", value_text(diff->join->sides[last].name));
    report_fact(report, "base_count", NULL, value_count(last));
}

/* What each side lost, skipped or guessed, with its name before it. */
static void add_notes_of_sides(const struct diff *diff)
{
    for (size_t i = 0; i < diff->join->side_count; i++) {
        struct diff_side side = diff->join->sides[i];
        size_t first = 0;

        while (diff->join->sides[first].question->tally != side.question->tally)
            first++;
        if (diff->is_steps)
            side.name = "recording";
        if (first == i)
            analyse_notes_of(side.question, side.name, diff->report);
    }
}

static void add_notes(const struct diff *diff)
{
    size_t left_out = 0;

    for (size_t i = 0; i < diff->join->side_count; i++)
        left_out += diff->join->sides[i].held.births_left_out;
    if (left_out)
        report_note(diff->report, left_out,
                    "allocations at the end, beyond 4,194,304 on a side, are counted but not lined "
                    "up in their order");
    for (size_t i = 0; i < diff->join->pairs.count; i++) {
        const struct diff_pair *pair = diff_pair_at(diff->join, i);
        int32_t first = INT32_MIN, other = INT32_MIN;

        for (size_t side = 0; side < diff->join->side_count; side++) {
            int32_t device;

            if (pair->ledgers[side] == DIFF_NO_LEDGER)
                continue;
            device = tally_ledger_at(diff->join->sides[side].question->tally, pair->ledgers[side])
                         ->device;
            if (first == INT32_MIN)
                first = device;
            else if (device != first)
                other = device;
        }
        if (other != INT32_MIN)
            report_note(diff->report, 0,
                        report_text(diff->report,
                                    "%s: device %" PRId32 " is compared with device %" PRId32,
                                    label_pair(diff, (uint32_t)i), other, first));
    }
}

/* Where nothing has a site, operators and owners say the same. */
static bool has_sites(const struct diff *diff)
{
    bool has_others = false;

    for (size_t i = 0; i < diff->join->rows.count; i++) {
        if (diff->rows[i].row->site_id)
            return true;
        has_others |= diff->rows[i].row->axis != DIFF_SITES;
    }
    return !has_others;
}

static bool write_diff(struct diff *diff)
{
    const struct question *current = diff->join->sides[diff->join->side_count - 1].question;
    bool is_lined_up = diff_order_operators(diff->join);

    diff->top = current->top;
    if (!judge_rows(diff) || !judge_pairs(diff))
        return false;
    if (!diff->is_steps &&
        !diff_leaks(diff->join, diff->report, (struct diff_leak_ranks){ORDER_LEAKS, ORDER_MORE}))
        return false;
    say_all(diff);
    add_facts(diff);
    add_pairs(diff);
    if (has_sites(diff))
        add_axis(diff, DIFF_SITES, "site_changes", translated("What changed, by site"), "site");
    add_axis(diff, DIFF_OPERATORS, "operator_changes", translated("What changed, by operator"),
             "operator");
    add_order(diff);
    add_axis(diff, DIFF_OWNERS, "owner_changes", translated("What changed, by owner"), "owner");
    add_axis(diff, DIFF_MODULES, "module_changes",
             translated("What changed, by module of the driver"), "module");
    if (!diff->is_steps)
        diff_counters(diff->join, diff->report, diff->top);
    add_notes(diff);
    add_notes_of_sides(diff);
    if (!is_lined_up)
        report_note(diff->report, 0, "not enough memory to line up operators in their order");
    return true;
}

static enum mt_result compare(const struct diff_question *question, struct diff_side *sides,
                              struct report *report, struct mt_error *error)
{
    struct diff_join join;
    struct diff diff = {
        .join = &join, .report = report, .is_steps = question->stretches[0].is_step};
    bool is_written;

    if (!diff_join_init(&join, sides, question->side_count))
        return mt_error_set(error, MT_NO_MEMORY, "no memory to compare sites");
    is_written = write_diff(&diff);
    free(diff.rows);
    free(diff.pairs);
    diff_join_release(&join);
    return is_written ? MT_OK : mt_error_set(error, MT_NO_MEMORY, "no memory to compare sites");
}

enum mt_result analyse_diff(const struct diff_question *question, struct report *report,
                            struct mt_error *error)
{
    struct diff_side *sides;
    enum mt_result result = MT_OK;
    size_t read_count = 0;

    if (question->side_count > DIFF_SIDES_MOST)
        return mt_error_set(error, MT_USAGE, "at most %d recordings or steps can be compared",
                            DIFF_SIDES_MOST);
    sides = calloc(question->side_count, sizeof(*sides));
    if (!sides)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to compare");
    while (result == MT_OK && read_count < question->side_count) {
        struct diff_side *side = &sides[read_count];

        side->question = question->sides[read_count];
        side->name = question->names[read_count];
        result = held_read(side->question, question->stretches[read_count], &side->held, error);
        read_count++;
    }
    if (result == MT_OK)
        result = compare(question, sides, report, error);
    for (size_t i = 0; i < read_count; i++)
        held_release(&sides[i].held);
    free(sides);
    return result;
}
