/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fragmentation: what pools hold and nobody uses. How much of it lies in holes, where, and whose
 * blocks keep segments from being given back.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fragments.h"
#include "labels.h"
#include "pool_analyses.h"
#include "pool_rules.h"
#include "segment_map.h"
#include "segment_pins.h"
#include "sentence.h"
#include "what_if.h"

enum { spoken_most = 2 /* of advice */, little_percent = 10 };

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
    const struct field fields[] = {
        {"moment", "when", value_word(word)},
        {"time_ns", "at", value_time(moment->time_ns)},
        {"reserved_bytes", "reserved", value_bytes(moment->reserved_bytes)},
        {"allocated_bytes", "allocated", value_bytes(moment->active_bytes - moment->waiting_bytes)},
        {"waiting_bytes", "waiting", value_bytes(moment->waiting_bytes)},
        {"unused_bytes", "unused", value_bytes(moment->unused_bytes)},
        {"unused_percent", "share",
         value_number(VALUE_PERCENT, percent_of(moment->unused_bytes, moment->reserved_bytes))},
        {"rounding_bytes", "rounding",
         is_known ? value_bytes(moment->rounding_bytes) : value_none()},
        {"hole_bytes", "in holes", is_known ? value_bytes(moment->hole_bytes) : value_none()},
        {"hole_count", "holes", is_known ? value_count(moment->hole_count) : value_none()},
        {"largest_hole_bytes", "largest",
         is_known ? value_bytes(moment->largest_hole_bytes) : value_none()},
        {"free_segment_bytes", "free segments",
         is_known ? value_bytes(moment->free_segment_bytes) : value_none()},
        {"unexplained_bytes", "unexplained",
         is_known ? value_change(VALUE_BYTES_CHANGE, (int64_t)(moment->unused_bytes - parts))
                  : value_none()},
        {"ledger", "ledger",
         value_text(label_ledger(question, report_arena(report), ledger->ledger))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static void add_moments(const struct question *question, struct report *report,
                        const struct fragments *fragments)
{
    struct report_table *table =
        report_table(report, "fragmentation", "What was reserved, and what of it was used", NULL);

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
    const char *label = label_ledger(question, report_arena(report), ledger->ledger);
    struct report_table *table = report_ledger_table(
        report, "reserved_over_time", label, report_text(report, "%s over time", label), NULL);
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

        const struct field fields[] = {
            {"time_ns", "until", value_time(slice->time_ns)},
            {"reserved_bytes", "reserved", value_bytes(slice->reserved_bytes)},
            {"active_bytes", "allocated or waiting", value_bytes(slice->active_bytes)},
            {"unused_bytes", "unused", value_bytes(unused)},
            {"most_unused_bytes", "most unused in this time", value_bytes(most)},
            {"ledger", "ledger", value_text(label)},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
        most = 0;
    }
}

/* --- who pins ------------------------------------------------------------------------------- */

static void add_pins(const struct question *question, struct report *report,
                     const struct fragment_ledger *ledger, const struct site_pins *pins)
{
    struct arena *texts = report_arena(report);
    const char *label = label_ledger(question, texts, ledger->ledger);
    struct report_table *table = report_ledger_table(
        report, "pins", label, report_text(report, "Sites that alone keep segments of %s", label),
        NULL);
    size_t shown = rows_shown(question, pins->count);

    for (size_t i = 0; i < shown; i++) {
        const struct field fields[] = {
            {"hole_bytes", "keeps unused", value_bytes(pins->rows[i].hole_bytes)},
            {"live_bytes", "with blocks of", value_bytes(pins->rows[i].live_bytes)},
            {"segment_count", "segments", value_count(pins->rows[i].segment_count)},
            {"site", "site", value_who(question, texts, pins->rows[i].who)},
            {"ledger", "ledger", value_text(label)},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < pins->count)
        report_table_remark(report, table, "... and %zu more sites.", pins->count - shown);
}

/* --- the whole ------------------------------------------------------------------------------ */

static const char *where(struct report *report, const struct fragment_moment *moment)
{
    struct arena *texts = report_arena(report);

    if (!moment->segment_count || !moment->unused_bytes)
        return "";
    return report_text(report, ": %s in %s beside blocks, %s in segments without a block",
                       label_size(texts, moment->hole_bytes),
                       label_counted(texts, moment->hole_count, "hole"),
                       label_size(texts, moment->free_segment_bytes));
}

/* What counts is how much is needed when most is reserved; a cache that is full of nothing when
 * the program is over hurts nobody. */
static void say_ledger(const struct question *question, struct report *report,
                       const struct fragment_ledger *ledger, const struct site_pins *pins)
{
    struct arena *texts = report_arena(report);
    const struct fragment_moment *peak = &ledger->moments[MOMENT_RESERVED_PEAK];
    const struct fragment_moment *worst = &ledger->moments[MOMENT_WORST];
    const struct ledger *sums = tally_ledger_at(question->tally, ledger->ledger);

    if (!ledger_reserved_is_possible(sums)) {
        report_verdict(report, RANK_FRAGMENTATION,
                       "IMPOSSIBLE NUMBERS: %s says it reserved %s at most, and had %s in use: "
                       "nothing is concluded from what it reserved.",
                       label_ledger(question, texts, ledger->ledger),
                       label_size(texts, sums->reserved_peak_bytes),
                       label_size(texts, sums->peak_bytes));
        report_outcome(report, REPORT_NO_DATA);
        return;
    }
    if (!peak->reserved_bytes) /* a state: there is one moment */
        peak = worst = &ledger->moments[MOMENT_END];
    report_verdict(report, RANK_FRAGMENTATION,
                   "%s: when %s reserved most, %s, %s (%u %%) of it were unused%s.",
                   percent_of(peak->unused_bytes, peak->reserved_bytes) < little_percent
                       ? translated("Little fragmentation")
                       : translated("FRAGMENTATION"),
                   label_ledger(question, texts, ledger->ledger),
                   label_size(texts, peak->reserved_bytes), label_size(texts, peak->unused_bytes),
                   percent_of(peak->unused_bytes, peak->reserved_bytes), where(report, peak));
    if (worst->event != peak->event)
        report_verdict(report, RANK_FRAGMENTATION, "At worst %s (%u %%) were unused, %s%s.",
                       label_size(texts, worst->unused_bytes),
                       percent_of(worst->unused_bytes, worst->reserved_bytes),
                       label_moment(question, texts, worst->time_ns), where(report, worst));
    if (pins->count && who_is_known(pins->rows[0].who) &&
        percent_of(pins->rows[0].hole_bytes, worst->reserved_bytes))
        report_verdict(report, RANK_FRAGMENTATION,
                       "PINNED: then %s of blocks of %s alone kept %s, with %s in holes.",
                       label_size(texts, pins->rows[0].live_bytes),
                       label_who(question, texts, pins->rows[0].who),
                       label_counted(texts, pins->rows[0].segment_count, "segment"),
                       label_size(texts, pins->rows[0].hole_bytes));
}

static void show_ledger(const struct question *question, struct report *report,
                        const struct fragment_ledger *ledger, bool is_first)
{
    const struct fragment_moment *worst = &ledger->moments[MOMENT_WORST];
    struct segment_pins segments = {.moment = NULL};
    struct site_pins sites = {.rows = NULL};

    if (segment_pins_init(&segments, worst) && site_pins_init(&sites, question, worst)) {
        if (is_first)
            say_ledger(question, report, ledger, &sites);
        segment_pins_show(&segments, question, report, ledger->ledger,
                          translated("when most was unused"));
        add_pins(question, report, ledger, &sites);
    }
    segment_pins_release(&segments);
    site_pins_release(&sites);
}

static void add_notes(const struct question *question, struct report *report,
                      const struct fragments *fragments)
{
    struct arena *texts = report_arena(report);

    for (size_t i = 0; i < fragments->count; i++) {
        const struct fragment_ledger *ledger = &fragments->ledgers[i];
        const char *label = label_ledger(question, texts, ledger->ledger);
        uint64_t outside_bytes = ledger->moments[MOMENT_WORST].outside_bytes;

        if (!ledger->has_segments)
            report_note(report, 0,
                        report_text(report,
                                    "%s: how much is reserved is known, but not where: no holes",
                                    label));
        if (ledger->are_segments_from_below)
            report_note(report, 0,
                        report_text(report,
                                    "%s: its segments are taken to be what pools from below handed "
                                    "out or mapped, and its blocks lay in",
                                    label));
        if (ledger->has_segments && outside_bytes)
            report_note(report, 0,
                        report_text(report, "%s: %s of blocks lie in no segment that is known",
                                    label, label_size(texts, outside_bytes)));
    }
}

/* What other settings would do, and what to do. */
static void advise(const struct question *question, struct report *report,
                   const struct fragments *fragments)
{
    static const struct rule *const tables[] = {pool_rules, workspace_rules, NULL};
    struct evidence evidence = {.question = question, .report = report, .fragments = fragments};
    struct advices advices;
    struct what_ifs what_ifs;
    struct mt_error error;

    if (what_ifs_read(question, question->allocator_settings, &what_ifs, &error) == MT_OK) {
        evidence.what_ifs = &what_ifs;
        what_ifs_show(&what_ifs, question, report);
    } else {
        report_note(report, 0, report_text(report, "other settings: %s", error.message));
    }
    advices_collect(&evidence, tables, &advices);
    advices_show(&advices, report, RANK_FRAGMENTATION, spoken_most);
}

void analyse_fragmentation(const struct question *question, struct report *report)
{
    struct fragments fragments;
    struct mt_error error;
    enum mt_result result = fragments_read(question, NULL, &fragments, &error);

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
        advise(question, report, &fragments);
        add_moments(question, report, &fragments);
        for (size_t i = 0; i < fragments.count; i++)
            add_slices(question, report, &fragments.ledgers[i]);
        add_notes(question, report, &fragments);
        if (question->is_for_pictures)
            segment_map_to_report(&fragments, report);
    }
    fragments_release(&fragments);
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
