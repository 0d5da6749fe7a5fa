/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about sites that make the peak.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "category.h"
#include "growth.h"
#include "labels.h"
#include "peak_rules.h"
#include "peak_trial.h"

enum {
    gradients_percent = 5, /* of the peak */
    peak_site_percent = 5,
    category_percent = 25
};

/* Of the blocks alive at the newest step end: those that were born in that step. */
static uint64_t born_in_last_step(const struct tally *tally, const struct origin *origin,
                                  uint32_t last, uint32_t epoch)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < origin->group_count; i++) {
        const struct cohorts *cohorts = &tally_detail_at(tally, origin->groups[i])->cohorts;

        for (size_t k = 0; k < cohorts->count; k++)
            if (cohorts->rows[k].birth + cohorts->stride > last)
                bytes += cohort_at_step_end(&cohorts->rows[k], epoch).bytes;
    }
    return bytes;
}

/* Made anew in each step, and alive until the next makes them again. */
static bool is_carried_over(const struct tally *tally, const struct origin *origin)
{
    const struct ledger *ledger = tally_ledger_at(tally, origin->ledger);
    struct tally_process process = tally_process_at(tally, ledger->process);
    uint32_t last = process.ended_step_count;
    uint64_t alive_bytes;

    if (last < 3)
        return false;
    alive_bytes = origin_at_step(tally, origin, last).bytes;
    return alive_bytes && origin_at_step(tally, origin, last - 1).bytes == alive_bytes &&
           origin_at_step(tally, origin, last - 2).bytes == alive_bytes &&
           born_in_last_step(tally, origin, last, process.epoch) == alive_bytes;
}

static void look_for_gradients(const struct rule *rule, const struct evidence *evidence,
                               struct advices *advices)
{
    const struct question *question = evidence->question;

    /* A period begins anywhere: between forward and backward every activation is carried over. */
    if (!growth_steps_are_marked(question))
        return;
    for (size_t i = 0; evidence->trials && i < evidence->trials->count; i++) {
        const struct peak_trials *ledger = &evidence->trials->ledgers[i];
        uint64_t peak_bytes = tally_ledger_at(question->tally, ledger->ledger)->peak_bytes;

        for (size_t k = 0; k < ledger->count; k++) {
            const struct trial *trial = &ledger->trials[k];
            uint64_t saves_bytes = peak_bytes - trial->without_bytes;

            if (!is_carried_over(question->tally, trial->origin) ||
                percent_of(saves_bytes, peak_bytes) < gradients_percent)
                continue;
            advice_add(
                advices, rule,
                report_text(evidence->report,
                            "blocks of %s live from each step into the next, and are then made "
                            "anew; %s of them are there at the peak of %s",
                            label_who(question, report_arena(evidence->report), trial->origin->who),
                            label_size(report_arena(evidence->report), trial->held.bytes),
                            label_ledger(question, report_arena(evidence->report), ledger->ledger)),
                saves_bytes, true);
        }
    }
}

/* Where uses are known: how far the peak falls if blocks live only while they are used. */
static void look_for_unused(const struct rule *rule, const struct evidence *evidence,
                            struct advices *advices)
{
    const struct question *question = evidence->question;

    for (size_t i = 0; evidence->trials && i < evidence->trials->count; i++) {
        const struct peak_trials *ledger = &evidence->trials->ledgers[i];
        uint64_t peak_bytes = tally_ledger_at(question->tally, ledger->ledger)->peak_bytes;

        for (size_t k = 0; ledger->has_uses && k < ledger->count; k++) {
            const struct trial *trial = &ledger->trials[k];
            uint64_t saves_bytes =
                trial->used_bytes < peak_bytes ? peak_bytes - trial->used_bytes : 0;

            if (percent_of(saves_bytes, peak_bytes) < peak_site_percent)
                continue;
            advice_add(
                advices, rule,
                report_text(evidence->report,
                            "blocks of %s are there and not used at the peak of "
                            "%s",
                            label_who(question, report_arena(evidence->report), trial->origin->who),
                            label_ledger(question, report_arena(evidence->report), ledger->ledger)),
                saves_bytes, false);
        }
    }
}
/* By ledger: what blocks of a category held when it was highest. NULL without memory. */
static uint64_t *held_by_category(const struct question *question, enum category category)
{
    const struct tally *tally = question->tally;
    uint64_t *bytes = calloc(tally_ledger_count(tally) + 1, sizeof(*bytes));

    for (size_t i = 1; bytes && i < tally_group_count(tally); i++)
        if (category_of(question, i).category == category)
            bytes[tally_group_at(tally, i)->ledger] += group_at_peak(tally, i).bytes;
    return bytes;
}

static void look_for_category(const struct rule *rule, const struct evidence *evidence,
                              struct advices *advices, enum category category)
{
    const struct question *question = evidence->question;
    uint64_t *bytes = held_by_category(question, category);

    for (size_t i = 0; bytes && i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);

        if (ledger->kind == LEDGER_MEMORY &&
            percent_of(bytes[i], ledger->peak_bytes) >= category_percent)
            advice_add(
                advices, rule,
                report_text(evidence->report, "%s of the %s of %s at its peak are %s",
                            label_size(report_arena(evidence->report), bytes[i]),
                            label_size(report_arena(evidence->report), ledger->peak_bytes),
                            label_ledger(question, report_arena(evidence->report), (uint16_t)i),
                            category_name(category)),
                bytes[i], true);
    }
    free(bytes);
}

static void look_for_activations(const struct rule *rule, const struct evidence *evidence,
                                 struct advices *advices)
{
    look_for_category(rule, evidence, advices, CATEGORY_ACTIVATIONS);
}

static void look_for_optimizer_state(const struct rule *rule, const struct evidence *evidence,
                                     struct advices *advices)
{
    look_for_category(rule, evidence, advices, CATEGORY_OPTIMIZER);
}

const struct rule peak_rules[] = {
    {"unused at the peak", "allocate them at their first use and free them after their last",
     look_for_unused},
    {"gradients kept",
     "if these are gradients, drop them before the next forward pass: "
     "optimizer.zero_grad(set_to_none=True); if they are data, fetch less ahead",
     look_for_gradients},
    {"activations",
     "compute some again on the way back instead of keeping them (torch.utils.checkpoint), or use "
     "smaller micro-batches",
     look_for_activations},
    {"optimizer state", "share it out over the ranks (ZeRO, FSDP), or keep it in fewer bits",
     look_for_optimizer_state},
    {NULL, NULL, NULL},
};
