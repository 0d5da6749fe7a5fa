/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about memory apart from pools of blocks: workspace, communication, pinned host memory,
 * and modules of the driver that grow.
 */
#include <inttypes.h>
#include <string.h>

#include "advice_rules.h"
#include "labels.h"
#include "ledger_figures.h"

enum {
    buffers_percent = 5,    /* of what the driver counts for the process */
    workspace_percent = 10, /* of the device's highest pool */
    pinned_percent = 80     /* still there at the end */
};

#define MODULE_GROWTH_LEAST (UINT64_C(64) << 20)
#define PINNED_LEAST        (UINT64_C(1) << 30)

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
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "communication (HCCL) holds %s, %u %% of what the driver "
                               "counts for %s",
                               label_size(report_arena(evidence->report), row->high_bytes),
                               percent_of(row->high_bytes, whole_bytes),
                               label_process(evidence->question, report_arena(evidence->report),
                                             row->process)),
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
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "module %s grew by %s, to %s, outside of the pools", module,
                               label_size(report_arena(evidence->report),
                                          row->last_bytes - row->first_bytes),
                               label_size(report_arena(evidence->report), row->last_bytes)),
                   row->last_bytes - row->first_bytes, true);
    }
}

static void look_for_workspace(const struct rule *rule, const struct evidence *evidence,
                               struct advices *advices)
{
    const struct question *question = evidence->question;
    const struct tally *tally = question->tally;

    for (size_t i = 0; i < tally_ledger_count(tally); i++) {
        const struct ledger *ledger = tally_ledger_at(tally, i);
        uint64_t held_bytes = ledger_figures_of(question, (uint16_t)i).held_bytes;
        uint64_t most_bytes = 0;

        if (model_pool_at(question->model, ledger->pool)->role != POOL_ROLE_WORKSPACE)
            continue;
        for (size_t k = 0; k < tally_ledger_count(tally); k++) {
            const struct ledger *other = tally_ledger_at(tally, k);
            uint64_t peak_bytes = ledger_figures_of(question, (uint16_t)k).peak_bytes;

            if (other->process == ledger->process && other->device == ledger->device &&
                peak_bytes > most_bytes)
                most_bytes = peak_bytes;
        }
        if (percent_of(held_bytes, most_bytes) < workspace_percent)
            continue;
        advice_add(advices, rule,
                   report_text(evidence->report, "%s holds %s at its highest",
                               label_ledger(question, report_arena(evidence->report), (uint16_t)i),
                               label_size(report_arena(evidence->report), held_bytes)),
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
        advice_add(advices, rule,
                   report_text(evidence->report,
                               "%s of host memory that devices reach are still held by "
                               "%s at the end",
                               label_size(report_arena(evidence->report), ledger->live_bytes),
                               label_ledger(evidence->question, report_arena(evidence->report),
                                            (uint16_t)i)),
                   ledger->live_bytes, true);
    }
}

const struct rule workspace_rules[] = {
    {"workspace",
     "with TASK_QUEUE_ENABLE=1 workspace comes from the caching pool, where others "
     "use it in between",
     look_for_workspace, false},
    {NULL, NULL, NULL, false},
};

const struct rule communication_rules[] = {
    {"communication buffers",
     "make HCCL_BUFFSIZE smaller (half of it saves half), or use fewer "
     "communicators",
     look_for_buffers, false},
    {NULL, NULL, NULL, false},
};

const struct rule driver_rules[] = {
    {"pinned host memory", "pin less: smaller buffers for offloading, fewer batches ahead",
     look_for_pinned, false},
    {"growth outside of the pools",
     "look for what this module is asked to do again and again: "
     "streams, events, graphs, communicators",
     look_for_module_growth, false},
    {NULL, NULL, NULL, false},
};
