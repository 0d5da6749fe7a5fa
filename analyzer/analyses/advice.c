/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about it, and what that would save. Each rule looks for its evidence in this
 * recording; without it, it says nothing. docs/advice.md has the thresholds and the sources.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "fragments.h"
#include "labels.h"
#include "origins.h"
#include "peak_trial.h"

enum { advices_most = 64, spoken_most = 3 };

/* From which on a rule speaks. */
enum {
    hole_percent = 10,    /* of what a pool reserves at most */
    cache_percent = 20,   /* the same */
    give_backs_least = 3, /* times */
    taken_again_percent = 50 /* of what was given back */,
    workspace_percent = 10, /* of the device's highest pool */
    buffers_percent = 5,    /* of what the driver counts for the process */
    gradients_percent = 5,  /* of the peak */
    pinned_percent = 80,    /* still there at the end */
    peak_site_percent = 5
};

/* Less than a few segments is how allocators are. */
#define UNUSED_LEAST        (UINT64_C(64) << 20)
#define MODULE_GROWTH_LEAST (UINT64_C(64) << 20)
#define PINNED_LEAST        (UINT64_C(1) << 30)

struct evidence {
    const struct question *question;
    struct report *report;
    const struct fragments *fragments; /* NULL: not read */
    const struct trials *trials;       /* NULL: not read */
};

struct advice {
    const char *rule, *finding, *what_to_do;
    uint64_t saves_bytes; /* of the peak; 0: not known */
    uint64_t saves_bytes_per_step;
    bool is_at_most; /* it saves so much at most */
};

struct advices {
    struct advice rows[advices_most];
    size_t count;
};

struct rule {
    const char *name, *what_to_do;
    void (*look)(const struct rule *rule, const struct evidence *evidence, struct advices *advices);
};

static void add(struct advices *advices, const struct rule *rule, const char *finding,
                uint64_t saves_bytes, bool is_at_most)
{
    if (advices->count < advices_most)
        advices->rows[advices->count++] = (struct advice){.rule = rule->name,
                                                          .finding = finding,
                                                          .what_to_do = rule->what_to_do,
                                                          .saves_bytes = saves_bytes,
                                                          .is_at_most = is_at_most};
}

static const char *pool_name(const struct question *question, const struct ledger *ledger)
{
    return model_text_at(question->model, model_pool_name_at(question->model, ledger->pool));
}

/* Pools whose allocator has the settings that are spoken of. */
static bool is_caching(const char *pool)
{
    return strcmp(pool, "pta") == 0 || strcmp(pool, "torch") == 0;
}

/* --- pools ---------------------------------------------------------------------------------- */

static void look_for_holes(const struct rule *rule, const struct evidence *evidence,
                           struct advices *advices)
{
    const struct question *question = evidence->question;

    for (size_t i = 0; evidence->fragments && i < evidence->fragments->count; i++) {
        const struct fragment_ledger *ledger = &evidence->fragments->ledgers[i];
        const struct fragment_moment *peak = &ledger->moments[MOMENT_RESERVED_PEAK];

        if (!is_caching(pool_name(question, tally_ledger_at(question->tally, ledger->ledger))) ||
            ledger->is_mapped || peak->hole_bytes < UNUSED_LEAST ||
            percent_of(peak->hole_bytes, peak->reserved_bytes) < hole_percent)
            continue;
        add(advices, rule,
            report_text(evidence->report,
                        "%s of %s of %s lay in %s between blocks when most was "
                        "reserved",
                        label_size(evidence->report, peak->hole_bytes),
                        label_size(evidence->report, peak->reserved_bytes),
                        label_ledger(question, evidence->report, ledger->ledger),
                        label_counted(evidence->report, peak->hole_count, "hole")),
            peak->hole_bytes, true);
    }
}

/* Where segments are not known: reserved, and used by nobody, even when most was reserved. */
static void look_for_cache(const struct rule *rule, const struct evidence *evidence,
                           struct advices *advices)
{
    const struct question *question = evidence->question;

    for (size_t i = 0; evidence->fragments && i < evidence->fragments->count; i++) {
        const struct fragment_ledger *ledger = &evidence->fragments->ledgers[i];
        const struct ledger *row = tally_ledger_at(question->tally, ledger->ledger);
        uint64_t highest_bytes = row->peak_bytes + row->older_beside_bytes;
        uint64_t unused_bytes =
            row->reserved_peak_bytes > highest_bytes ? row->reserved_peak_bytes - highest_bytes : 0;

        if (ledger->has_segments || !is_caching(pool_name(question, row)) ||
            unused_bytes < UNUSED_LEAST ||
            percent_of(unused_bytes, row->reserved_peak_bytes) < cache_percent)
            continue;
        add(advices, rule,
            report_text(evidence->report, "%s reserves %s, but never has more than %s in use",
                        label_ledger(question, evidence->report, ledger->ledger),
                        label_size(evidence->report, row->reserved_peak_bytes),
                        label_size(evidence->report, highest_bytes)),
            unused_bytes, true);
    }
}

static void look_for_churn(const struct rule *rule, const struct evidence *evidence,
                           struct advices *advices)
{
    for (size_t i = 0; evidence->fragments && i < evidence->fragments->count; i++) {
        const struct fragment_ledger *ledger = &evidence->fragments->ledgers[i];

        if (ledger->give_back_count < give_backs_least ||
            percent_of(ledger->taken_again_bytes, ledger->given_back_bytes) < taken_again_percent)
            continue;
        add(advices, rule,
            report_text(evidence->report,
                        "%s gave memory back %" PRIu64 " times, %s in all, and took %s of it again",
                        label_ledger(evidence->question, evidence->report, ledger->ledger),
                        ledger->give_back_count,
                        label_size(evidence->report, ledger->given_back_bytes),
                        label_size(evidence->report, ledger->taken_again_bytes)),
            0, false);
    }
}

static void look_for_workspace(const struct rule *rule, const struct evidence *evidence,
                               struct advices *advices)
{
    const struct question *question = evidence->question;
    const struct tally *tally = question->tally;

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);
        const char *name = pool_name(question, ledger);
        uint64_t held_bytes = ledger->reserved_peak_bytes > ledger->peak_bytes
                                  ? ledger->reserved_peak_bytes
                                  : ledger->peak_bytes;
        uint64_t most_bytes = 0;

        if (!strstr(name, "workspace"))
            continue;
        for (size_t k = 0; k < tally_ledger_count(tally); k++) {
            const struct ledger *other = tally_ledger_at(tally, k);

            if (other->process == ledger->process && other->device == ledger->device &&
                other->peak_bytes > most_bytes)
                most_bytes = other->peak_bytes;
        }
        if (percent_of(held_bytes, most_bytes) < workspace_percent)
            continue;
        add(advices, rule,
            report_text(evidence->report, "%s holds %s at its highest",
                        label_ledger(question, evidence->report, (uint16_t)i),
                        label_size(evidence->report, held_bytes)),
            held_bytes, true);
    }
}

static void look_for_pinned(const struct rule *rule, const struct evidence *evidence,
                            struct advices *advices)
{
    const struct tally *tally = evidence->question->tally;

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);

        if ((ledger->kind != LEDGER_HOST && ledger->kind != LEDGER_REGISTERED) ||
            ledger->peak_bytes < PINNED_LEAST ||
            percent_of(ledger->live_bytes, ledger->peak_bytes) < pinned_percent)
            continue;
        add(advices, rule,
            report_text(evidence->report,
                        "%s of host memory that devices reach are still held by "
                        "%s at the end",
                        label_size(evidence->report, ledger->live_bytes),
                        label_ledger(evidence->question, evidence->report, (uint16_t)i)),
            ledger->live_bytes, true);
    }
}

/* --- what the driver counts ----------------------------------------------------------------- */

static const char *counter_name(const struct evidence *evidence, const struct sample_row *row)
{
    return model_text_at(evidence->question->model, row->counter);
}

/* "HCCL" of "module HCCL reserved"; NULL for other counters. */
static const char *module_of(const struct evidence *evidence, const struct sample_row *row)
{
    static const char start[] = "module ", end[] = " reserved";
    const char *name = counter_name(evidence, row);
    size_t length = strlen(name);

    if (strncmp(name, start, sizeof(start) - 1) != 0 || length < sizeof(start) + sizeof(end) - 2 ||
        strcmp(name + length - (sizeof(end) - 1), end) != 0)
        return NULL;
    return report_text(evidence->report, "%.*s", (int)(length - sizeof(start) - sizeof(end) + 2),
                       name + sizeof(start) - 1);
}

static uint64_t process_bytes(const struct evidence *evidence, uint16_t process)
{
    const struct tally *tally = evidence->question->tally;

    for (size_t i = 0; i < tally_sample_count(tally); i++) {
        const struct sample_row *row = tally_sample_at(tally, i);

        if (row->process == process && strcmp(counter_name(evidence, row), "APP reserved") == 0)
            return row->high_bytes;
    }
    return 0;
}

static void look_for_buffers(const struct rule *rule, const struct evidence *evidence,
                             struct advices *advices)
{
    const struct tally *tally = evidence->question->tally;

    for (size_t i = 0; i < tally_sample_count(tally); i++) {
        const struct sample_row *row = tally_sample_at(tally, i);
        const char *module = module_of(evidence, row);
        uint64_t whole_bytes = process_bytes(evidence, row->process);

        if (!module || strcmp(module, "HCCL") != 0 || !whole_bytes ||
            percent_of(row->high_bytes, whole_bytes) < buffers_percent)
            continue;
        add(advices, rule,
            report_text(evidence->report,
                        "communication (HCCL) holds %s, %u %% of what the driver "
                        "counts for %s",
                        label_size(evidence->report, row->high_bytes),
                        percent_of(row->high_bytes, whole_bytes),
                        label_process(evidence->question, evidence->report, row->process)),
            row->high_bytes / 2, true);
    }
}

/* APP is the framework's own memory, which its pools tell better. */
static void look_for_module_growth(const struct rule *rule, const struct evidence *evidence,
                                   struct advices *advices)
{
    const struct tally *tally = evidence->question->tally;

    for (size_t i = 0; i < tally_sample_count(tally); i++) {
        const struct sample_row *row = tally_sample_at(tally, i);
        const char *module = module_of(evidence, row);

        if (!module || strcmp(module, "APP") == 0 || row->last_bytes < row->first_bytes ||
            row->last_bytes - row->first_bytes < MODULE_GROWTH_LEAST)
            continue;
        add(advices, rule,
            report_text(evidence->report, "module %s grew by %s, to %s, outside of the pools",
                        module, label_size(evidence->report, row->last_bytes - row->first_bytes),
                        label_size(evidence->report, row->last_bytes)),
            row->last_bytes - row->first_bytes, true);
    }
}

/* --- sites ---------------------------------------------------------------------------------- */

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

    for (size_t i = 0; evidence->trials && i < evidence->trials->count; i++) {
        const struct peak_trials *ledger = &evidence->trials->ledgers[i];
        uint64_t peak_bytes = tally_ledger_at(question->tally, ledger->ledger)->peak_bytes;

        for (size_t k = 0; k < ledger->count; k++) {
            const struct trial *trial = &ledger->trials[k];
            uint64_t saves_bytes = peak_bytes - trial->without_bytes;

            if (!is_carried_over(question->tally, trial->origin) ||
                percent_of(saves_bytes, peak_bytes) < gradients_percent)
                continue;
            add(advices, rule,
                report_text(evidence->report,
                            "blocks of %s live from each step into the next, and are then made "
                            "anew; %s of them are there at the peak of %s",
                            label_who(question, evidence->report, trial->origin->who),
                            label_size(evidence->report, trial->held.bytes),
                            label_ledger(question, evidence->report, ledger->ledger)),
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
            add(advices, rule,
                report_text(evidence->report,
                            "blocks of %s are there and not used at the peak of "
                            "%s",
                            label_who(question, evidence->report, trial->origin->who),
                            label_ledger(question, evidence->report, ledger->ledger)),
                saves_bytes, false);
        }
    }
}

/* --- the rules ------------------------------------------------------------------------------ */

static const struct rule rules[] = {
    {"unused at the peak", "allocate them at their first use and free them behind their last",
     look_for_unused},
    {"gradients kept",
     "if these are gradients, drop them before the next forward pass: "
     "optimizer.zero_grad(set_to_none=True); if they are data, fetch less ahead",
     look_for_gradients},
    {"holes",
     "let segments grow: PYTORCH_NPU_ALLOC_CONF=expandable_segments:True, "
     "PYTORCH_CUDA_ALLOC_CONF for CUDA",
     look_for_holes},
    {"reserved and unused",
     "let segments grow, PYTORCH_NPU_ALLOC_CONF=expandable_segments:True; "
     "a snapshot of the allocator tells whether these are holes",
     look_for_cache},
    {"given back and taken again", "call empty_cache less often, or not at all", look_for_churn},
    {"workspace",
     "with TASK_QUEUE_ENABLE=1 workspace comes from the caching pool, where others "
     "use it in between",
     look_for_workspace},
    {"communication buffers",
     "make HCCL_BUFFSIZE smaller (half of it saves half), or use fewer "
     "communicators",
     look_for_buffers},
    {"pinned host memory", "pin less: smaller buffers for offloading, fewer batches ahead",
     look_for_pinned},
    {"growth outside of the pools",
     "look for what this module is asked to do again and again: "
     "streams, events, graphs, communicators",
     look_for_module_growth},
};

static int by_saving(const void *left, const void *right)
{
    const struct advice *a = left, *b = right;

    if (a->saves_bytes != b->saves_bytes)
        return a->saves_bytes > b->saves_bytes ? -1 : 1;
    return strcmp(a->finding, b->finding);
}

static const char *saving_of(struct report *report, const struct advice *advice)
{
    if (!advice->saves_bytes)
        return "";
    return report_text(report, " It saves %s%s.", advice->is_at_most ? "at most " : "",
                       label_size(report, advice->saves_bytes));
}

static void say(struct report *report, const struct advice *advice, bool is_loud)
{
    const char *sentence = report_text(report, "SEEN: %s. DO: %s.%s", advice->finding,
                                       advice->what_to_do, saving_of(report, advice));
    const struct fact facts[] = {
        {"rule", NULL, value_text(advice->rule)},
        {"saves_bytes", NULL,
         advice->saves_bytes ? value_bytes(advice->saves_bytes) : value_none()},
        {"is_at_most", NULL, value_number(VALUE_FLAG, advice->is_at_most)},
    };

    if (is_loud)
        report_verdict(report, RANK_STEPS, "%s", sentence);
    report_finding(report, "advice", sentence, facts, sizeof(facts) / sizeof(facts[0]));
}

static void add_table(struct report *report, const struct advices *advices)
{
    static const struct report_column columns[] = {
        {"rule", "rule"},    {"saves_bytes", "saves"},     {"is_at_most", "at most"},
        {"finding", "seen"}, {"what_to_do", "what to do"},
    };
    struct report_table *table = report_table(report, "advice", "What to do", NULL, columns,
                                              sizeof(columns) / sizeof(columns[0]));

    for (size_t i = 0; i < advices->count; i++) {
        const struct advice *advice = &advices->rows[i];

        report_row(report, table,
                   (const struct value[]){
                       value_text(advice->rule),
                       advice->saves_bytes ? value_bytes(advice->saves_bytes) : value_none(),
                       value_number(VALUE_FLAG, advice->is_at_most), value_text(advice->finding),
                       value_text(advice->what_to_do)});
    }
}

static void apply_rules(const struct evidence *evidence, bool is_loud)
{
    struct advices advices = {.count = 0};
    struct report *report = evidence->report;

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        rules[i].look(&rules[i], evidence, &advices);
    qsort(advices.rows, advices.count, sizeof(advices.rows[0]), by_saving);
    for (size_t i = 0; i < advices.count; i++)
        say(report, &advices.rows[i], is_loud && i < spoken_most);
    add_table(report, &advices);
    if (is_loud && !advices.count)
        report_verdict(report, RANK_STEPS, "No advice: nothing in this recording calls for it.");
}

static enum mt_result run_trials(const struct question *question, struct trials *trials,
                                 struct mt_error *error)
{
    struct life_visitor visitor = {0};
    enum mt_result result = trials_begin(trials, question, &visitor, error);

    if (result == MT_OK)
        result = lives_read(question->events, tally_model(question->tally), &visitor, error);
    return result == MT_OK ? trials_finish(trials, error) : result;
}

void analyse_advice(const struct question *question, struct report *report)
{
    struct evidence evidence = {.question = question, .report = report};
    struct fragments fragments;
    struct trials trials;
    struct mt_error error;
    enum mt_result result = fragments_read(question, &fragments, &error);

    if (result == MT_OK)
        evidence.fragments = &fragments;
    else
        report_note(report, 0, report_text(report, "advice on pools: %s", error.message));
    result = run_trials(question, &trials, &error);
    if (result == MT_OK)
        evidence.trials = &trials;
    else
        report_note(report, 0, report_text(report, "advice on sites: %s", error.message));
    apply_rules(&evidence, true);
    fragments_release(&fragments);
    trials_release(&trials);
}

/* Only what the sums tell: nothing is read again. */
void analyse_advice_in_short(const struct question *question, struct report *report)
{
    apply_rules(&(struct evidence){.question = question, .report = report}, false);
}
