/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes the peak? The highest point of each ledger, and who held the memory there.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "holders.h"
#include "inner_maker.h"
#include "labels.h"
#include "ledger_figures.h"
#include "ledger_layers.h"
#include "ledger_order.h"
#include "missing.h"
#include "origins.h"
#include "peak_analyses.h"
#include "sentence.h"

enum { detailed_ledgers = 3 };

static struct step_sample held_at_peak(const void *context, const struct origin *origin)
{
    const struct question *question = context;

    return origin_at_peak(question->tally, origin);
}

static void add_holders(const struct question *question, struct report *report, uint16_t index,
                        const struct holder *rows, size_t count)
{
    struct arena *texts = report_arena(report);
    const struct ledger *ledger = tally_ledger_at(question->tally, index);
    const char *label = label_ledger(question, texts, index);
    struct report_table *table = report_ledger_table(
        report, "held_at_peak", label,
        report_text(report, "Who held %s at its peak%s", label,
                    label_in_step(question, texts, ledger->process, ledger->peak_step)),
        NULL);
    uint64_t whole_bytes = ledger_figures_of(question, index).peak_bytes, rest_bytes = 0;
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++) {
        const struct who *who = &rows[i].origin->who;
        const struct field fields[] = {
            {"held_bytes", "held", value_bytes(rows[i].held.bytes)},
            {"share_percent", "share",
             value_number(VALUE_PERCENT, percent_of(rows[i].held.bytes, whole_bytes))},
            {"block_count", "blocks", value_count(rows[i].held.count)},
            {"site", "site", value_origin(question, texts, rows[i].origin)},
            {"operator", "operator", value_name(question, who->operator_text)},
            {"owner", "owner", value_name(question, who->owner_text)},
            {"ledger", "ledger", value_text(label)},
            {"stack", "stack",
             value_stack_of(question, report,
                            origin_main_who(question, rows[i].origin, origin_at_peak))},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    for (size_t i = shown; i < count; i++)
        rest_bytes += rows[i].held.bytes;
    if (shown < count)
        report_table_remark(report, table, "... and %s at %zu more sites.",
                            label_size(report_arena(report), rest_bytes), count - shown);
    if (ledger->older_beside_bytes)
        report_table_remark(report, table,
                            "Beside these, up to %s in blocks older than the recording.",
                            label_size(report_arena(report), ledger->older_beside_bytes));
}

static struct who cause_of(const struct question *question, const struct ledger *ledger)
{
    const struct group_detail *detail = tally_detail_at(question->tally, ledger->peak_group);

    return (struct who){detail->site, detail->operator_text, detail->owner_text, 0};
}

static void add_peaks(const struct question *question, struct report *report, const uint16_t *order,
                      size_t count)
{
    struct arena *texts = report_arena(report);
    struct report_table *table =
        report_table(report, "peaks", "Highest point of each ledger", "Nothing was allocated.");

    size_t shown = ledgers_shown(question, order, count);

    for (size_t i = 0; i < shown; i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, order[i]);
        bool has_steps = tally_process_at(question->tally, ledger->process).step_count > 0;
        struct ledger_figures figures = ledger_figures_of(question, order[i]);
        const struct field fields[] = {
            {"ledger", "ledger",
             value_text(label_ledger(question, report_arena(report), order[i]))},
            {"counted_peak_bytes", "as the pool counts",
             figures.is_counted ? value_bytes(figures.peak_bytes) : value_none()},
            {"peak_bytes", "peak", value_bytes(ledger->peak_bytes)},
            {"outside_bytes", "outside of pools",
             ledger_is_reserved(ledger)
                 ? value_bytes(ledger_outside_peak(question->tally, order[i]))
                 : value_none()},
            {"peak_count", "blocks", value_count(ledger->peak_count)},
            {"peak_ns", "at", value_time(ledger->peak_time_ns)},
            {"peak_step", "step",
             has_steps
                 ? value_step(step_number(question->tally, ledger->process, ledger->peak_step))
                 : value_none()},
            {"phase", "phase", value_name(question, ledger->peak_phase)},
            {"site", "made by",
             group_is_reserved(question, ledger->peak_group)
                 ? value_unknown(translated("(a pool above)"))
                 : value_who(question, texts, cause_of(question, ledger))},
        };

        if (ledger->alloc_count)
            report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more ledgers.", count - shown);
}

/* Of what the pool counts: what was seen being made, and what the source only tells as a sum. The
 * two need not have been highest at the same moment. */
static const char *parts_of(struct report *report, const struct ledger *ledger,
                            const struct ledger_figures *figures)
{
    const char *older = label_size(report_arena(report), ledger->older_beside_bytes);

    if (figures->is_counted)
        return report_text(
            report, ": up to %s made in the recording%s",
            label_size(report_arena(report), figures->seen_peak_bytes),
            ledger->older_beside_bytes ? report_text(report, ", up to %s older", older) : "");
    if (!ledger->older_beside_bytes)
        return "";
    return report_text(report, " (beside it, up to %s that are older than the recording)", older);
}

/* "; most of it, 2.00 GiB (66 %), held by forward (net.py:12), 1.50 GiB of it by build (lib.py:7)"
 */
static const char *holder_words(const struct question *question, struct report *report,
                                const struct holder *holder, uint64_t whole_bytes)
{
    unsigned percent = percent_of(holder->held.bytes, whole_bytes);
    const char *who = label_who(question, report_arena(report), holder->origin->who);
    const char *held = label_size(report_arena(report), holder->held.bytes);

    return percent < 50
               ? report_text(report, "; largest holder %s with %s (%u %%)", who, held, percent)
               : report_text(report, "; most of it, %s (%u %%), held by %s%s", held, percent, who,
                             inner_maker_words(question, report_arena(report), holder->origin,
                                               origin_at_peak));
}

/* Nobody can be named for it: the largest holder that has a name follows. */
static const char *nameless_words(const struct question *question, struct report *report,
                                  const struct holder *holders, size_t count, uint64_t whole_bytes)
{
    const char *older = report_text(report, "; %s (%u %%) older than the recording, without a site",
                                    label_size(report_arena(report), holders->held.bytes),
                                    percent_of(holders->held.bytes, whole_bytes));

    for (size_t i = 1; i < count; i++)
        if (who_is_known(holders[i].origin->who))
            return report_text(report, "%s; largest holder with one: %s with %s (%u %%)", older,
                               label_who(question, report_arena(report), holders[i].origin->who),
                               label_size(report_arena(report), holders[i].held.bytes),
                               percent_of(holders[i].held.bytes, whole_bytes));
    return older;
}

static const char *holders_words(const struct question *question, struct report *report,
                                 const struct holder *holders, size_t count, uint64_t whole_bytes)
{
    if (!count)
        return "";
    if (who_is_known(holders->origin->who) ||
        !tally_detail_at(question->tally, holders->origin->groups[0])->is_older)
        return holder_words(question, report, holders, whole_bytes);
    return nameless_words(question, report, holders, count, whole_bytes);
}

static void say_peak(const struct question *question, struct report *report, uint16_t index,
                     const struct holder *holders, size_t count)
{
    struct arena *texts = report_arena(report);
    const struct ledger *ledger = tally_ledger_at(question->tally, index);
    struct ledger_figures figures = ledger_figures_of(question, index);

    report_verdict(
        report, RANK_PEAK, "PEAK: %s of %s%s%s, %s%s%s.", label_size(texts, figures.peak_bytes),
        label_ledger(question, texts, index), figures.is_counted ? " as the pool counts" : "",
        label_in_step(question, texts, ledger->process, ledger->peak_step),
        label_moment(question, texts, figures.peak_ns), parts_of(report, ledger, &figures),
        holders_words(question, report, holders, count, figures.peak_bytes));
}

void analyse_peak(const struct question *question, struct report *report)
{
    size_t count;
    uint16_t *order = ledger_order(question->tally, &count);
    struct origins origins;
    struct holder *holders;

    if (!order || !origins_init_of(&origins, question, ORIGINS_BY_OPERATOR, group_is_in_peak)) {
        report_note(report, 0, "peak: not enough memory to list sites");
        free(order);
        return;
    }
    holders = malloc((origins.count + 1) * sizeof(*holders));
    if (!count || !tally_ledger_at(question->tally, order[0])->alloc_count)
        report_verdict(report, RANK_PEAK, "%s", no_blocks_sentence(question, report_arena(report)));
    add_peaks(question, report, order, count);
    for (size_t i = 0; holders && i < count && i < detailed_ledgers; i++) {
        size_t found;

        if (!ledger_is_detailed(question->tally, order[0], order[i]))
            continue;
        found = holders_of(&origins, order[i], held_at_peak, question, holders);

        if (i == 0 && found)
            say_peak(question, report, order[0], holders, found);
        add_holders(question, report, order[i], holders, found);
    }
    free(holders);
    free(order);
    origins_release(&origins);
}
