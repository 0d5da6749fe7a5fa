/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With one step or none: what the recorded time as a whole kept. Never called a leak.
 *
 *   unreleased in the window - older blocks released in it = net growth
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis.h"
#include "labels.h"
#include "ledger_order.h"
#include "origins.h"

/* Of the process that has most. */
static uint32_t most_ended_steps(const struct question *question)
{
    uint32_t most = 0;

    for (size_t i = 0; i < model_process_count(question->model); i++) {
        uint32_t count = tally_process_at(question->tally, (uint16_t)i).ended_step_count;

        most = count > most ? count : most;
    }
    return most;
}

/* Frees of older blocks are known by pool only: they go to the pool's first ledger. */
static const struct baseline *baseline_of(const struct tally *tally, uint16_t index)
{
    const struct ledger *ledger = tally_ledger_at(tally, index);

    for (uint16_t i = 0; i < index; i++) {
        const struct ledger *earlier = tally_ledger_at(tally, i);

        if (earlier->process == ledger->process && earlier->pool == ledger->pool)
            return NULL;
    }
    for (size_t i = 0; i < tally_baseline_count(tally); i++) {
        const struct baseline *row = tally_baseline_at(tally, i);

        if (row->process == ledger->process && row->pool == ledger->pool && row->count)
            return row;
    }
    return NULL;
}

static void add_ledgers(const struct question *question, struct report *report)
{
    static const struct report_column columns[] = {
        {"ledger", "ledger"},
        {"unreleased_bytes", "unreleased"},
        {"unreleased_count", "blocks"},
        {"older_released_bytes", "older, released"},
        {"older_released_count", "older blocks"},
        {"net_growth_bytes", "net growth"},
        {"net_growth_count", "net blocks"},
    };
    struct report_table *table =
        report_table(report, "window", "The recorded window", "Nothing was allocated.", columns,
                     sizeof(columns) / sizeof(columns[0]));

    size_t count, shown;
    uint16_t *order = ledger_order(question->tally, &count);

    shown = order ? rows_shown(question, count) : 0;
    for (size_t i = 0; i < shown; i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, order[i]);
        const struct baseline *older = baseline_of(question->tally, order[i]);
        bool is_known = !older || older->bytes;
        const struct value values[] = {
            value_text(label_ledger(question, report, order[i])),
            value_bytes(ledger->live_bytes),
            value_count(ledger->live_count),
            is_known ? value_bytes(older ? older->bytes : 0) : value_none(),
            value_count(older ? older->count : 0),
            is_known ? value_change(VALUE_BYTES_CHANGE,
                                    (int64_t)(ledger->live_bytes - (older ? older->bytes : 0)))
                     : value_none(),
            value_change(VALUE_COUNT_CHANGE,
                         (int64_t)(ledger->live_count - (older ? older->count : 0))),
        };

        report_row(report, table, values);
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more ledgers.", count - shown);
    free(order);
}

struct remaining {
    const struct origin *origin;
    struct step_sample alive;
};

static int remaining_compare(const void *left, const void *right)
{
    const struct remaining *a = left, *b = right;

    if (a->alive.bytes != b->alive.bytes)
        return a->alive.bytes > b->alive.bytes ? -1 : 1;
    if (a->alive.count != b->alive.count)
        return a->alive.count > b->alive.count ? -1 : 1;
    return a->origin < b->origin ? -1 : a->origin > b->origin;
}

static void add_remaining(const struct question *question, struct report *report,
                          const struct remaining *rows, size_t count)
{
    static const struct report_column columns[] = {
        {"alive_bytes", "alive"}, {"alive_count", "blocks"}, {"site", "site"},
        {"operator", "operator"}, {"owner", "owner"},        {"ledger", "ledger"},
    };
    struct report_table *table =
        report_table(report, "unreleased", "Still alive at the end, by site",
                     "Everything was released.", columns, sizeof(columns) / sizeof(columns[0]));
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++) {
        const struct origin *origin = rows[i].origin;
        const struct value values[] = {
            value_bytes(rows[i].alive.bytes),
            value_count(rows[i].alive.count),
            value_text(label_who(question, report, origin->who)),
            value_name(question, origin->who.operator_text),
            value_name(question, origin->who.owner_text),
            value_text(label_ledger(question, report, origin->ledger)),
        };

        report_row(report, table, values);
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more sites.", count - shown);
}

static void add_verdict(const struct question *question, struct report *report)
{
    size_t best = tally_ledger_count(question->tally);

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++)
        if (best == tally_ledger_count(question->tally) ||
            tally_ledger_at(question->tally, i)->live_bytes >
                tally_ledger_at(question->tally, best)->live_bytes)
            best = i;
    if (best < tally_ledger_count(question->tally)) {
        const struct ledger *ledger = tally_ledger_at(question->tally, best);

        report_verdict(report, RANK_LEAKS,
                       "No steps, so no leak verdict: %s in %s of %s not released in "
                       "the recorded window. Mark steps to find leaks.",
                       label_size(report, ledger->live_bytes),
                       label_counted(report, ledger->live_count, "block"),
                       label_ledger(question, report, (uint16_t)best));
    } else {
        report_verdict(report, RANK_LEAKS, "Nothing was allocated in the recorded window.");
    }
    report_outcome(report, REPORT_NO_DATA);
}

void analyse_window(const struct question *question, struct report *report)
{
    struct origins origins;
    struct remaining *rows;
    size_t count = 0;

    if (most_ended_steps(question) > 1)
        return;
    if (!most_ended_steps(question))
        add_verdict(question, report); /* with one step, it is the leaks that cannot be judged */
    add_ledgers(question, report);
    if (!origins_init(&origins, question->tally, false)) {
        report_note(report, 0, "window: not enough memory to list sites");
        return;
    }
    rows = malloc((origins.count + 1) * sizeof(*rows));
    for (size_t i = 0; rows && i < origins.count; i++) {
        rows[count] =
            (struct remaining){&origins.rows[i], origin_alive(question->tally, &origins.rows[i])};
        count += rows[count].alive.count > 0;
    }
    if (rows) {
        qsort(rows, count, sizeof(*rows), remaining_compare);
        add_remaining(question, report, rows, count);
    }
    free(rows);
    origins_release(&origins);
}
