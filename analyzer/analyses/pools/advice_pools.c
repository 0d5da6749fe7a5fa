/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about pools: holes, caches, memory that comes and goes, segments that few blocks keep.
 */
#include <inttypes.h>
#include <string.h>

#include "category.h"
#include "fragments.h"
#include "labels.h"
#include "ledger_figures.h"
#include "pool_rules.h"
#include "segment_pins.h"
#include "sentence.h"
#include "what_if.h"

enum {
    hole_percent = 10,       /* of what a pool reserves at most */
    cache_percent = 20,      /* the same */
    model_percent = 5,       /* the same: what another setting saves */
    give_backs_least = 3,    /* times */
    taken_again_percent = 50 /* of what was given back */
};

/* Less than a few segments is how allocators are. */
#define UNUSED_LEAST (UINT64_C(64) << 20)

/* What the model of the allocator knows of a ledger, and is believed; else NULL. */
static const struct what_if_ledger *model_of(const struct evidence *evidence, uint16_t ledger)
{
    for (size_t i = 0; evidence->what_ifs && i < evidence->what_ifs->count; i++)
        if (evidence->what_ifs->ledgers[i].ledger == ledger &&
            evidence->what_ifs->ledgers[i].is_believed)
            return &evidence->what_ifs->ledgers[i];
    return NULL;
}

static void look_for_model(const struct rule *rule, const struct evidence *evidence,
                           struct advices *advices)
{
    const struct question *question = evidence->question;
    struct report *report = evidence->report;
    struct arena *texts = report_arena(report);

    for (size_t i = 0; evidence->what_ifs && i < evidence->what_ifs->count; i++) {
        const struct what_if_ledger *ledger = &evidence->what_ifs->ledgers[i];
        const struct what_if *best = what_if_best(ledger);
        uint64_t as_it_ran_bytes = ledger->as_it_ran.totals.reserved_peak_bytes;
        uint64_t saves_bytes = best ? as_it_ran_bytes - what_if_most_bytes(best) : 0;
        struct rule with_setting = *rule;

        if (saves_bytes < UNUSED_LEAST || percent_of(saves_bytes, as_it_ran_bytes) < model_percent)
            continue;
        with_setting.what_to_do = report_text(
            report, "set %s=%s",
            what_if_variable(question, tally_ledger_at(question->tally, ledger->ledger)),
            best->setting);
        advice_add(
            advices, &with_setting,
            report_text(report,
                        "with %s the same requests would have reserved %s of %s, not %s (as it "
                        "ran, the model is %u.%u %% off)",
                        best->setting, label_size(texts, what_if_most_bytes(best)),
                        label_ledger(question, texts, ledger->ledger),
                        label_size(texts, as_it_ran_bytes), ledger->error_permille / 10,
                        ledger->error_permille % 10),
            saves_bytes, false);
    }
}

static void look_for_holes(const struct rule *rule, const struct evidence *evidence,
                           struct advices *advices)
{
    const struct question *question = evidence->question;

    for (size_t i = 0; evidence->fragments && i < evidence->fragments->count; i++) {
        const struct fragment_ledger *ledger = &evidence->fragments->ledgers[i];
        const struct fragment_moment *peak = &ledger->moments[MOMENT_RESERVED_PEAK];
        struct rule own = *rule; /* with the setting of its own allocator */

        if (!what_if_is_for(question, tally_ledger_at(question->tally, ledger->ledger)) ||
            model_of(evidence, ledger->ledger) || ledger->is_mapped ||
            peak->hole_bytes < UNUSED_LEAST ||
            percent_of(peak->hole_bytes, peak->reserved_bytes) < hole_percent)
            continue;
        own.what_to_do = report_text(
            evidence->report, "let segments grow: set %s=expandable_segments:True",
            what_if_variable(question, tally_ledger_at(question->tally, ledger->ledger)));
        advice_add(
            advices, &own,
            report_text(evidence->report,
                        "%s of %s of %s lay in %s between blocks when most was "
                        "reserved",
                        label_size(report_arena(evidence->report), peak->hole_bytes),
                        label_size(report_arena(evidence->report), peak->reserved_bytes),
                        label_ledger(question, report_arena(evidence->report), ledger->ledger),
                        label_counted(report_arena(evidence->report), peak->hole_count, "hole")),
            peak->hole_bytes, true);
    }
}

/* The site that kept most from steps, of a ledger: blocks that stay keep segments. "" when none. */
static const char *who_stays(const struct evidence *evidence, uint16_t ledger)
{
    const struct question *question = evidence->question;
    uint64_t most_bytes = 0;
    size_t most = 0;

    for (size_t i = 1; i < tally_group_count(question->tally); i++) {
        const struct group *group = tally_group_at(question->tally, i);

        if (group->ledger != ledger || group->live_bytes <= most_bytes ||
            category_of(question, i).category != CATEGORY_KEPT)
            continue;
        most = i;
        most_bytes = group->live_bytes;
    }
    if (!most || !who_is_known(pin_who(question, (uint32_t)most)))
        return "";
    return report_text(
        evidence->report, "; %s keeps blocks of %s from steps",
        label_who(question, report_arena(evidence->report), pin_who(question, (uint32_t)most)),
        label_size(report_arena(evidence->report), most_bytes));
}

/* Where segments are not known: reserved, and used by nobody, even when most was reserved. */
static void look_for_cache(const struct rule *rule, const struct evidence *evidence,
                           struct advices *advices)
{
    const struct question *question = evidence->question;
    struct rule of_others = *rule, own = *rule;

    of_others.what_to_do =
        translated("blocks that stay keep segments that the others have left: make those "
                   "first, or from a pool of their own");
    for (size_t i = 0; evidence->fragments && i < evidence->fragments->count; i++) {
        const struct fragment_ledger *ledger = &evidence->fragments->ledgers[i];
        const struct ledger *row = tally_ledger_at(question->tally, ledger->ledger);
        struct ledger_figures figures = ledger_figures_of(question, ledger->ledger);
        uint64_t highest_bytes =
            figures.peak_bytes + (figures.has_counter ? 0 : row->older_beside_bytes);
        uint64_t unused_bytes =
            row->reserved_peak_bytes > highest_bytes ? row->reserved_peak_bytes - highest_bytes : 0;
        bool is_modelled = what_if_is_for(question, row);
        const char *stays = is_modelled ? "" : who_stays(evidence, ledger->ledger);

        if (ledger->has_segments || model_of(evidence, ledger->ledger) ||
            unused_bytes < UNUSED_LEAST ||
            percent_of(unused_bytes, row->reserved_peak_bytes) < cache_percent ||
            (!is_modelled && !*stays))
            continue;
        own.what_to_do =
            report_text(evidence->report,
                        "let segments grow, %s=expandable_segments:True; a snapshot of the "
                        "allocator tells whether these are holes",
                        what_if_variable(question, row));
        advice_add(
            advices, is_modelled ? &own : &of_others,
            report_text(evidence->report,
                        "%s reserves %s, but never has more than %s in "
                        "use%s",
                        label_ledger(question, report_arena(evidence->report), ledger->ledger),
                        label_size(report_arena(evidence->report), row->reserved_peak_bytes),
                        label_size(report_arena(evidence->report), highest_bytes), stays),
            unused_bytes, true);
    }
}

/* Where the worst moment is known: the site that alone keeps most, with few bytes of its own. */
static void look_for_pins(const struct rule *rule, const struct evidence *evidence,
                          struct advices *advices)
{
    for (size_t i = 0; evidence->fragments && i < evidence->fragments->count; i++) {
        const struct fragment_ledger *ledger = &evidence->fragments->ledgers[i];
        const struct fragment_moment *peak = &ledger->moments[MOMENT_RESERVED_PEAK];
        struct site_pins pins;

        /* Of a mapping, each page is given back for itself. */
        if (site_pins_init(&pins, evidence->question, peak) && pins.count && !ledger->is_mapped &&
            who_is_known(pins.rows[0].who) && pins.rows[0].hole_bytes >= UNUSED_LEAST &&
            percent_of(pins.rows[0].hole_bytes, peak->reserved_bytes) >= hole_percent)
            advice_add(
                advices, rule,
                report_text(
                    evidence->report,
                    "%s of blocks of %s alone keep %s of %s, with %s in holes, when "
                    "most was reserved",
                    label_size(report_arena(evidence->report), pins.rows[0].live_bytes),
                    label_who(evidence->question, report_arena(evidence->report), pins.rows[0].who),
                    label_counted(report_arena(evidence->report), pins.rows[0].segment_count,
                                  "segment"),
                    label_ledger(evidence->question, report_arena(evidence->report),
                                 ledger->ledger),
                    label_size(report_arena(evidence->report), pins.rows[0].hole_bytes)),
                pins.rows[0].hole_bytes, true);
        site_pins_release(&pins);
    }
}

static void look_for_churn(const struct rule *rule, const struct evidence *evidence,
                           struct advices *advices)
{
    struct rule of_others = *rule;

    of_others.what_to_do = translated("let the pool keep segments that it will need again");
    for (size_t i = 0; evidence->fragments && i < evidence->fragments->count; i++) {
        const struct fragment_ledger *ledger = &evidence->fragments->ledgers[i];

        if (ledger->give_back_count < give_backs_least ||
            percent_of(ledger->taken_again_bytes, ledger->given_back_bytes) < taken_again_percent)
            continue;
        advice_add(
            advices,
            what_if_is_for(evidence->question,
                           tally_ledger_at(evidence->question->tally, ledger->ledger))
                ? rule
                : &of_others,
            report_text(
                evidence->report,
                "%s gave memory back %" PRIu64 " times, %s in all, and took %s of it again",
                label_ledger(evidence->question, report_arena(evidence->report), ledger->ledger),
                ledger->give_back_count,
                label_size(report_arena(evidence->report), ledger->given_back_bytes),
                label_size(report_arena(evidence->report), ledger->taken_again_bytes)),
            0, false);
    }
}

const struct rule pool_rules[] = {
    {"another setting", NULL, look_for_model, true},
    {"holes", NULL, look_for_holes, false},
    {"reserved and unused", NULL, look_for_cache, false},
    {"few blocks keep segments",
     "free these blocks, or make them first, or from a pool of their own: then the segments can be "
     "given back",
     look_for_pins, false},
    {"given back and taken again", "call empty_cache less often, or not at all", look_for_churn,
     false},
    {NULL, NULL, NULL, false},
};
