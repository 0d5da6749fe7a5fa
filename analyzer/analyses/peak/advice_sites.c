/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about sites that make the peak.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "category.h"
#include "growth.h"
#include "labels.h"
#include "ledger_figures.h"
#include "ledger_layers.h"
#include "peak_rules.h"
#include "peak_trial.h"

enum {
    gradients_percent = 5, /* of the peak */
    peak_site_percent = 5,
    category_percent = 25,
    workspace_percent = 10,
    sure_percent = 75 /* less is no ground for advice */
};

/* Of the blocks alive at the newest step end: those that were born in that step. */
static uint64_t born_in_last_step(const struct tally *tally, const struct origin *origin,
                                  uint32_t last, uint32_t epoch)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < origin->group_count; i++) {
        const struct cohorts *cohorts = &tally_past_at(tally, origin->groups[i])->cohorts;

        for (size_t k = 0; k < cohorts->count; k++)
            if (cohorts->rows[k].birth + cohorts->stride > last)
                bytes += cohort_at_step_end(&cohorts->rows[k], epoch).bytes;
    }
    return bytes;
}

/* What saves less is not worth a change of the program. */
#define SAVING_LEAST  (UINT64_C(1) << 20)

/* Smaller devices are not worth a move. */
#define DEVICES_LEAST (UINT64_C(64) << 20)

/* Blocks that a pool cuts up are segments: of those nothing is known of tensors. */
static bool is_of_tensors(const struct question *question, const struct peak_trials *ledger)
{
    return !ledger_is_reserved(tally_ledger_at(question->tally, ledger->ledger));
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
        uint64_t peak_bytes = ledger_figures_of(question, ledger->ledger).peak_bytes;

        for (size_t k = 0; is_of_tensors(question, ledger) && k < ledger->count; k++) {
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
        uint64_t peak_bytes = ledger_figures_of(question, ledger->ledger).peak_bytes;

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

/* What blocks of a category held when a ledger was highest. */
struct held {
    uint64_t bytes;
    bool is_guessed; /* of some of them */
};

/* By ledger. NULL without memory. */
static struct held *held_by_category(const struct question *question, enum category category)
{
    const struct tally *tally = question->tally;
    struct held *rows = calloc(tally_ledger_count(tally) + 1, sizeof(*rows));

    for (size_t i = 1; rows && i < tally_group_count(tally); i++) {
        uint64_t held_bytes = group_at_peak(tally, i).bytes;
        struct held *held = &rows[tally_group_at(tally, i)->ledger];
        struct category_guess guess;

        if (!held_bytes)
            continue;
        guess = category_of(question, i);
        if (guess.category == category && guess.confidence_percent >= sure_percent) {
            held->bytes += held_bytes;
            held->is_guessed |= guess.confidence_percent < 100;
        }
    }
    return rows;
}

/* A category that is advised on: in how much of a peak, and of whose devices. */
struct advised {
    enum category category;
    unsigned percent;
    enum device_family family; /* FAMILY_NONE: of all */
};

/* Tensors: of a device, or of a framework; what a runtime pins of the host holds none for long. */
static bool is_advised_on(const struct question *question, const struct ledger *ledger,
                          struct advised advised)
{
    const struct pool *pool = model_pool_at(question->model, ledger->pool);

    return ledger->kind == LEDGER_MEMORY && !ledger_is_reserved(ledger) &&
           (ledger->device >= 0 || pool->role == POOL_ROLE_FRAMEWORK) &&
           (advised.family == FAMILY_NONE || advised.family == pool->family);
}

static void look_for_category(const struct rule *rule, const struct evidence *evidence,
                              struct advices *advices, struct advised advised)
{
    const struct question *question = evidence->question;
    struct arena *texts = report_arena(evidence->report);
    struct held *rows = held_by_category(question, advised.category);

    for (size_t i = 0; rows && i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);
        uint64_t peak_bytes = ledger_figures_of(question, (uint16_t)i).peak_bytes;

        if (rows[i].bytes >= SAVING_LEAST && is_advised_on(question, ledger, advised) &&
            percent_of(rows[i].bytes, peak_bytes) >= advised.percent)
            advice_add(advices, rule,
                       report_text(evidence->report, "%s of the %s of %s at its peak are %s",
                                   label_size(texts, rows[i].bytes), label_size(texts, peak_bytes),
                                   label_ledger(question, texts, (uint16_t)i),
                                   category_label(texts, advised.category, !rows[i].is_guessed)),
                       rows[i].bytes, true);
    }
    free(rows);
}

static void look_for_activations(const struct rule *rule, const struct evidence *evidence,
                                 struct advices *advices)
{
    look_for_category(rule, evidence, advices,
                      (struct advised){CATEGORY_ACTIVATIONS, category_percent, FAMILY_NONE});
}

static void look_for_optimizer_state(const struct rule *rule, const struct evidence *evidence,
                                     struct advices *advices)
{
    look_for_category(rule, evidence, advices,
                      (struct advised){CATEGORY_OPTIMIZER, category_percent, FAMILY_NONE});
}

static void look_for_workspaces(const struct rule *rule, const struct evidence *evidence,
                                struct advices *advices)
{
    look_for_category(rule, evidence, advices,
                      (struct advised){CATEGORY_WORKSPACE, workspace_percent, FAMILY_GPU});
}

/* Blocks made inside of the loss over a vocabulary: the logits once more, in another type, and what
 * softmax makes of them. */
static bool is_of_loss(const char *function)
{
    static const char *const words[] = {"cross_entropy", "CrossEntropy", "log_softmax",
                                        "LogSoftmax",    "nll_loss",     "NllLoss"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(function, words[i]))
            return true;
    return false;
}

static bool is_made_by_loss(const struct question *question, size_t group)
{
    const struct group_detail *detail = tally_detail_at(question->tally, group);
    const struct symbol_frame *frames;
    size_t count;

    if (is_of_loss(model_text_at(question->model, detail->operator_text)))
        return true;
    frames = symbols_frames(question->symbols, detail->site, &count);
    for (size_t i = 0; i < count; i++)
        if (is_of_loss(frames[i].function))
            return true;
    return false;
}

static void look_for_logits(const struct rule *rule, const struct evidence *evidence,
                            struct advices *advices)
{
    const struct question *question = evidence->question;
    const struct tally *tally = question->tally;
    uint64_t *bytes = calloc(tally_ledger_count(tally) + 1, sizeof(*bytes));

    for (size_t i = 1; bytes && i < tally_group_count(tally); i++) {
        uint16_t index = tally_group_at(tally, i)->ledger;
        uint64_t held_bytes = group_at_peak(tally, i).bytes;

        if (percent_of(held_bytes, ledger_figures_of(question, index).peak_bytes) >= 1 &&
            is_made_by_loss(question, i))
            bytes[index] += held_bytes;
    }
    for (uint16_t i = 0; bytes && i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);
        uint64_t peak_bytes = ledger_figures_of(question, i).peak_bytes;

        if (ledger->kind == LEDGER_MEMORY && !ledger_is_reserved(ledger) &&
            percent_of(bytes[i], peak_bytes) >= category_percent)
            advice_add(
                advices, rule,
                report_text(evidence->report,
                            "%s of the %s of %s at its peak were made by the loss: copies of "
                            "the logits",
                            label_size(report_arena(evidence->report), bytes[i]),
                            label_size(report_arena(evidence->report), peak_bytes),
                            label_ledger(question, report_arena(evidence->report), i)),
                bytes[i], true);
    }
    free(bytes);
}

/* The devices of one process, in one pool. */
struct devices {
    const char *list; /* "78.3 GiB on device 0, 20.1 GiB on device 1" */
    uint64_t highest_bytes, lowest_bytes, sum_bytes;
    size_t count;
};

static struct devices devices_like(const struct evidence *evidence, uint16_t index)
{
    const struct tally *tally = evidence->question->tally;
    const struct ledger *first = tally_ledger_at(tally, index);
    struct devices devices = {.list = "", .lowest_bytes = UINT64_MAX};

    for (uint16_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);
        uint64_t peak_bytes = ledger_figures_of(evidence->question, i).peak_bytes;

        if (ledger->process != first->process || ledger->pool != first->pool ||
            ledger->kind != LEDGER_MEMORY || ledger->device < 0 || !peak_bytes)
            continue;
        if (i < index) /* that one speaks for all */
            return (struct devices){.count = 0};
        devices.list =
            report_text(evidence->report, "%s%s%s on device %" PRId32, devices.list,
                        devices.count++ ? ", " : "",
                        label_size(report_arena(evidence->report), peak_bytes), ledger->device);
        devices.sum_bytes += peak_bytes;
        if (peak_bytes > devices.highest_bytes)
            devices.highest_bytes = peak_bytes;
        if (peak_bytes < devices.lowest_bytes)
            devices.lowest_bytes = peak_bytes;
    }
    return devices;
}

static void look_for_unbalanced_devices(const struct rule *rule, const struct evidence *evidence,
                                        struct advices *advices)
{
    const struct question *question = evidence->question;

    for (uint16_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);
        struct devices devices;

        if (ledger->kind != LEDGER_MEMORY || ledger->device < 0 || ledger_is_reserved(ledger))
            continue;
        devices = devices_like(evidence, i);
        if (devices.count < 2 || devices.highest_bytes < DEVICES_LEAST ||
            devices.highest_bytes / 2 < devices.lowest_bytes)
            continue;
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "one process holds very different amounts of %s: %s",
                               label_pool(question, ledger), devices.list),
                   devices.highest_bytes - devices.sum_bytes / devices.count, true);
    }
}

const struct rule peak_rules[] = {
    {"unused at the peak", "allocate them at their first use and free them after their last",
     look_for_unused, true},
    {"gradients kept",
     "if these are gradients, drop them before the next forward pass: "
     "optimizer.zero_grad(set_to_none=True); if they are data, fetch less ahead",
     look_for_gradients, true},
    {"activations",
     "compute some again on the way back instead of keeping them (torch.utils.checkpoint), or use "
     "smaller micro-batches",
     look_for_activations, false},
    {"optimizer state", "share it out over the ranks (ZeRO, FSDP), or keep it in fewer bits",
     look_for_optimizer_state, false},
    {"workspaces",
     "give cuBLAS smaller ones, CUBLAS_WORKSPACE_CONFIG=:4096:2 and CUBLASLT_WORKSPACE_SIZE=4096; "
     "products of matrices may take longer",
     look_for_workspaces, false},
    {"copies of logits",
     "compute the loss over parts of the tokens (chunked or fused cross entropy), or share the "
     "vocabulary out over ranks",
     look_for_logits, false},
    {"unbalanced devices",
     "move layers from the fullest device to the others (device_map, pipeline stages), or make the "
     "batch on it smaller",
     look_for_unbalanced_devices, false},
    {NULL, NULL, NULL, false},
};
