/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fragmentation: what pools hold and nobody uses. How much of it lies in holes, where, and whose
 * blocks keep segments from being given back.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "fragments.h"
#include "labels.h"
#include "segment_map.h"
#include "segment_pins.h"
#include "what_if.h"

static const char *const moment_words[MOMENT_KINDS] = {
    [MOMENT_RESERVED_PEAK] = "most reserved",
    [MOMENT_WORST] = "most unused",
    [MOMENT_END] = "the end",
    [MOMENT_FAILURE] = "last failed request",
};

/* --- moments -------------------------------------------------------------------------------- */

static void add_moment(const struct question *question, struct report *report,
                       struct report_table *table, const struct fragment_ledger *ledger,
                       const struct fragment_moment *moment, const char *word)
{
    bool is_known = moment->segment_count > 0;
    uint64_t parts = moment->rounding_bytes + moment->hole_bytes + moment->free_segment_bytes;
    const struct value values[] = {
        value_text(word),
        value_time(moment->time_ns),
        value_bytes(moment->reserved_bytes),
        value_bytes(moment->active_bytes - moment->waiting_bytes),
        value_bytes(moment->waiting_bytes),
        value_bytes(moment->unused_bytes),
        value_number(VALUE_PERCENT, percent_of(moment->unused_bytes, moment->reserved_bytes)),
        is_known ? value_bytes(moment->rounding_bytes) : value_none(),
        is_known ? value_bytes(moment->hole_bytes) : value_none(),
        is_known ? value_count(moment->hole_count) : value_none(),
        is_known ? value_bytes(moment->largest_hole_bytes) : value_none(),
        is_known ? value_bytes(moment->free_segment_bytes) : value_none(),
        is_known ? value_change(VALUE_BYTES_CHANGE, (int64_t)(moment->unused_bytes - parts))
                 : value_none(),
        value_text(label_ledger(question, report, ledger->ledger)),
    };

    report_row(report, table, values);
}

static void add_moments(const struct question *question, struct report *report,
                        const struct fragments *fragments)
{
    static const struct report_column columns[] = {
        {"moment", "when"},
        {"time_ns", "at"},
        {"reserved_bytes", "reserved"},
        {"allocated_bytes", "allocated"},
        {"waiting_bytes", "waiting"},
        {"unused_bytes", "unused"},
        {"unused_percent", "share"},
        {"rounding_bytes", "rounding"},
        {"hole_bytes", "in holes"},
        {"hole_count", "holes"},
        {"largest_hole_bytes", "largest"},
        {"free_segment_bytes", "free segments"},
        {"unexplained_bytes", "unexplained"},
        {"ledger", "ledger"},
    };
    struct report_table *table =
        report_table(report, "fragmentation", "What was reserved, and what of it was used", NULL,
                     columns, sizeof(columns) / sizeof(columns[0]));

    for (size_t i = 0; i < fragments->count; i++)
        for (int kind = 0; kind < MOMENT_KINDS; kind++)
            if (fragments->ledgers[i].moments[kind].is_known)
                add_moment(question, report, table, &fragments->ledgers[i],
                           &fragments->ledgers[i].moments[kind], moment_words[kind]);
    report_table_remark(report, table,
                        "unused = rounding + holes beside blocks + segments without a block; "
                        "waiting: freed, but another stream uses it.");
}

static void add_slices(const struct question *question, struct report *report,
                       const struct fragment_ledger *ledger)
{
    static const struct report_column columns[] = {
        {"time_ns", "until"},
        {"reserved_bytes", "reserved"},
        {"active_bytes", "allocated or waiting"},
        {"unused_bytes", "unused"},
        {"most_unused_bytes", "most unused in this time"},
        {"ledger", "ledger"},
    };
    const char *label = label_ledger(question, report, ledger->ledger);
    struct report_table *table =
        report_table(report, report_text(report, "reserved over time of %s", label),
                     report_text(report, "%s over time", label), NULL, columns,
                     sizeof(columns) / sizeof(columns[0]));
    size_t step = question->top && question->top < ledger->slice_count
                      ? (ledger->slice_count + question->top - 1) / question->top
                      : 1;
    uint64_t most = 0;

    for (size_t i = 0; i < ledger->slice_count; i++) {
        const struct fragment_slice *slice = &ledger->slices[i];
        uint64_t unused = slice->reserved_bytes > slice->active_bytes
                              ? slice->reserved_bytes - slice->active_bytes
                              : 0;

        most = slice->most_unused_bytes > most ? slice->most_unused_bytes : most;
        if ((i + 1) % step && i + 1 != ledger->slice_count)
            continue;
        report_row(report, table,
                   (const struct value[]){value_time(slice->time_ns),
                                          value_bytes(slice->reserved_bytes),
                                          value_bytes(slice->active_bytes), value_bytes(unused),
                                          value_bytes(most), value_text(label)});
        most = 0;
    }
}

/* --- who pins ------------------------------------------------------------------------------- */

/* What a site keeps from being given back: holes of segments that it alone has blocks in. */
struct pin {
    struct who who;
    uint64_t hole_bytes, live_bytes;
    size_t segment_count;
};

/* Sites are the same when people know them by one name. */
static bool is_same(const struct question *question, struct who a, struct who b)
{
    if (a.site || b.site)
        return symbols_site_id(question->symbols, a.site) ==
               symbols_site_id(question->symbols, b.site);
    return a.operator_text == b.operator_text && a.owner_text == b.owner_text;
}

static bool has_one_site(const struct question *question, const struct fragment_moment *moment,
                         const struct segment *segment, struct who *who)
{
    *who = pin_who(question, moment->blocks[segment->first_block].group);
    for (size_t i = 1; i < segment->block_count; i++)
        if (!is_same(question, *who,
                     pin_who(question, moment->blocks[segment->first_block + i].group)))
            return false;
    return true;
}

static int by_holes(const void *left, const void *right)
{
    const struct pin *a = left, *b = right;

    if (a->hole_bytes != b->hole_bytes)
        return a->hole_bytes > b->hole_bytes ? -1 : 1;
    return (a->who.site > b->who.site) - (a->who.site < b->who.site);
}

static size_t find_pins(const struct question *question, const struct fragment_moment *moment,
                        const struct segment **rows, size_t count, struct pin *pins)
{
    size_t pin_count = 0;

    for (size_t i = 0; i < count; i++) {
        struct who who;
        size_t k = 0;

        if (!has_one_site(question, moment, rows[i], &who))
            continue;
        while (k < pin_count && !is_same(question, pins[k].who, who))
            k++;
        if (k == pin_count)
            pins[pin_count++] = (struct pin){.who = who};
        pins[k].hole_bytes += rows[i]->hole_bytes;
        pins[k].live_bytes += rows[i]->live_bytes;
        pins[k].segment_count++;
    }
    if (pin_count)
        qsort(pins, pin_count, sizeof(*pins), by_holes);
    return pin_count;
}

static void add_pins(const struct question *question, struct report *report,
                     const struct fragment_ledger *ledger, const struct pin *pins, size_t count)
{
    static const struct report_column columns[] = {
        {"hole_bytes", "keeps unused"}, {"live_bytes", "with blocks of"},
        {"segment_count", "segments"},  {"site", "site"},
        {"ledger", "ledger"},
    };
    const char *label = label_ledger(question, report, ledger->ledger);
    struct report_table *table =
        report_table(report, report_text(report, "pins of %s", label),
                     report_text(report, "Sites that alone keep segments of %s", label), NULL,
                     columns, sizeof(columns) / sizeof(columns[0]));
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++)
        report_row(report, table,
                   (const struct value[]){
                       value_bytes(pins[i].hole_bytes), value_bytes(pins[i].live_bytes),
                       value_count(pins[i].segment_count),
                       value_text(label_who(question, report, pins[i].who)), value_text(label)});
    if (shown < count)
        report_table_remark(report, table, "... and %zu more sites.", count - shown);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void say_ledger(const struct question *question, struct report *report,
                       const struct fragment_ledger *ledger, const struct segment *cheapest,
                       size_t pinned_count)
{
    const struct fragment_moment *worst = &ledger->moments[MOMENT_WORST];
    const char *where = "";

    if (worst->segment_count)
        where = report_text(report, ": %s in %s beside blocks, %s in segments without a block",
                            label_size(report, worst->hole_bytes),
                            label_counted(report, worst->hole_count, "hole"),
                            label_size(report, worst->free_segment_bytes));
    report_verdict(report, RANK_FRAGMENTATION,
                   "FRAGMENTATION: at worst %s (%u %%) of what %s held were unused, %" PRIu64
                   ".%03" PRIu64 " s after the start%s.",
                   label_size(report, worst->unused_bytes),
                   percent_of(worst->unused_bytes, worst->reserved_bytes),
                   label_ledger(question, report, ledger->ledger), worst->time_ns / 1000000000,
                   worst->time_ns / 1000000 % 1000, where);
    if (cheapest)
        report_verdict(report, RANK_FRAGMENTATION,
                       "Cheapest of %zu pinned segments: %s of blocks, the largest of %s, keep %s.",
                       pinned_count, label_size(report, cheapest->live_bytes),
                       pin_site(question, report, worst, cheapest),
                       label_size(report, cheapest->to - cheapest->from));
}

static void show_ledger(const struct question *question, struct report *report,
                        const struct fragment_ledger *ledger, bool is_first)
{
    const struct fragment_moment *worst = &ledger->moments[MOMENT_WORST];
    struct pin *sites = malloc((worst->segment_count + 1) * sizeof(*sites));
    struct segment_pins pins;

    if (segment_pins_init(&pins, worst) && sites) {
        if (is_first)
            say_ledger(question, report, ledger, pins.count ? pins.rows[0] : NULL, pins.count);
        segment_pins_show(&pins, question, report, ledger->ledger, "when most was unused");
        add_pins(question, report, ledger, sites,
                 find_pins(question, worst, pins.rows, pins.count, sites));
    }
    segment_pins_release(&pins);
    free(sites);
}

static void add_notes(const struct question *question, struct report *report,
                      const struct fragments *fragments)
{
    for (size_t i = 0; i < fragments->count; i++) {
        const struct fragment_ledger *ledger = &fragments->ledgers[i];
        const char *label = label_ledger(question, report, ledger->ledger);
        uint64_t outside_bytes = ledger->moments[MOMENT_WORST].outside_bytes;

        if (!ledger->has_segments)
            report_note(report, 0,
                        report_text(report,
                                    "%s: how much is reserved is known, but not where: no holes",
                                    label));
        if (ledger->are_segments_from_below)
            report_note(report, 0,
                        report_text(report,
                                    "%s: its segments are taken to be the blocks of the driver "
                                    "that its blocks lie in; those without any are unexplained",
                                    label));
        if (ledger->has_segments && outside_bytes)
            report_note(report, 0,
                        report_text(report, "%s: %s of blocks lie in no segment that is known",
                                    label, label_size(report, outside_bytes)));
    }
}

void analyse_fragmentation(const struct question *question, struct report *report)
{
    struct fragments fragments;
    struct mt_error error;
    enum mt_result result = fragments_read(question, &fragments, &error);

    if (result != MT_OK) {
        report_note(report, 0, report_text(report, "fragmentation: %s", error.message));
    } else if (!fragments.count) {
        report_verdict(report, RANK_FRAGMENTATION,
                       "No pool of this recording tells what it reserves, so nothing can be said "
                       "about fragmentation.");
        report_outcome(report, REPORT_NO_DATA);
    } else {
        for (size_t i = 0; i < fragments.count; i++)
            show_ledger(question, report, &fragments.ledgers[i], i == 0);
        add_moments(question, report, &fragments);
        for (size_t i = 0; i < fragments.count; i++)
            add_slices(question, report, &fragments.ledgers[i]);
        add_notes(question, report, &fragments);
        if (question->is_for_pictures)
            segment_map_to_report(&fragments, report);
    }
    fragments_release(&fragments);
}

void analyse_what_if(const struct question *question, struct report *report)
{
    struct what_ifs what_ifs;
    struct mt_error error;

    if (what_ifs_read(question, question->allocator_settings, &what_ifs, &error) == MT_OK)
        what_ifs_show(&what_ifs, question, report);
    else
        report_note(report, 0, report_text(report, "other settings: %s", error.message));
}

void analyse_fragmentation_if_known(const struct question *question, struct report *report)
{
    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        if (!tally_ledger_at(question->tally, i)->has_reserved)
            continue;
        analyse_fragmentation(question, report);
        return;
    }
}
