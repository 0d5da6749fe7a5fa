/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds the rest? Memory by module of the driver, and the driver's and the system's own
 * counters, as npu_module_mem shows them.
 */
#define _GNU_SOURCE /* qsort_r */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account_analyses.h"
#include "driver_modules.h"
#include "labels.h"

static const char *module_label(struct report *report, uint32_t number)
{
    const char *name = driver_module_name(number);

    return name ? name : report_text(report, "module %" PRIu32, number);
}

static void add_modules(const struct question *question, struct report *report)
{
    struct report_table *table =
        report_table(report, "modules", "Memory by module of the driver", NULL);

    for (size_t i = 0; i < tally_usage_count(question->tally); i++) {
        const struct usage *usage = tally_usage_at(question->tally, i);
        const struct field fields[] = {
            {"module", "module", value_text(module_label(report, usage->id))},
            {"module_id", "id", value_step(usage->id)},
            {"alive_bytes", "alive at end", value_bytes(usage->live_bytes)},
            {"alive_count", "blocks", value_count(usage->live_count)},
            {"peak_bytes", "peak", value_bytes(usage->peak_bytes)},
            {"peak_ns", "at", value_time(usage->peak_time_ns)},
            {"allocated_bytes", "allocated in all", value_bytes(usage->alloc_bytes)},
            {"allocated_count", "allocs", value_count(usage->alloc_count)},
            {"ledger", "ledger",
             value_text(label_ledger(question, report_arena(report), usage->ledger))},
        };

        if (usage->kind == USAGE_MODULE)
            report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

static struct value device_of(const struct question *question, uint16_t place)
{
    int32_t device = model_place_at(question->model, place).device;

    return device < 0 ? value_none() : value_step((uint64_t)device);
}

static void add_sample(const struct question *question, struct report *report,
                       struct report_table *table, const struct sample_row *row)
{
    const struct field fields[] = {
        {"counter", "counter", value_text(model_text_at(question->model, row->counter))},
        {"device", "device", device_of(question, row->place)},
        {"first_bytes", "first", value_bytes(row->first_bytes)},
        {"last_bytes", "last", value_bytes(row->last_bytes)},
        {"lowest_bytes", "lowest", value_bytes(row->low_bytes)},
        {"highest_bytes", "highest", value_bytes(row->high_bytes)},
        {"highest_ns", "at", value_time(row->high_ns)},
        {"sample_count", "samples", value_count(row->count)},
        {"process", "process",
         value_text(label_process(question, report_arena(report), row->process))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static int sample_compare(const void *left, const void *right, void *context)
{
    size_t index_a = *(const size_t *)left, index_b = *(const size_t *)right;
    const struct sample_row *a = tally_sample_at(context, index_a);
    const struct sample_row *b = tally_sample_at(context, index_b);

    if (a->high_bytes != b->high_bytes)
        return a->high_bytes > b->high_bytes ? -1 : 1;
    return (index_a > index_b) - (index_a < index_b);
}

static void add_samples(const struct question *question, struct report *report)
{
    struct report_table *table =
        report_table(report, "samples", "Counters of the driver and of the system", NULL);

    size_t total = tally_sample_count(question->tally), count = 0, shown;
    size_t *order = malloc((total + 1) * sizeof(*order));

    for (size_t i = 0; order && i < total; i++)
        if (!question->top || tally_sample_at(question->tally, i)->high_bytes)
            order[count++] = i;
    if (order)
        qsort_r(order, count, sizeof(*order), sample_compare, (void *)question->tally);
    shown = rows_shown(question, count);
    for (size_t i = 0; i < shown; i++)
        add_sample(question, report, table, tally_sample_at(question->tally, order[i]));
    if (shown < count)
        report_table_remark(report, table, "... and %zu more counters.", count - shown);
    if (count < total)
        report_table_remark(report, table, "%zu counters were 0 all the time.", total - count);
    free(order);
}

void analyse_modules(const struct question *question, struct report *report)
{
    add_modules(question, report);
    add_samples(question, report);
}

/* process_account.c says what is in it. */
static bool has_process_counter(const struct question *question)
{
    for (size_t i = 0; i < tally_sample_count(question->tally); i++)
        if (strcmp(model_text_at(question->model, tally_sample_at(question->tally, i)->counter),
                   "APP reserved") == 0)
            return true;
    return false;
}

void analyse_modules_verdict(const struct question *question, struct report *report)
{
    struct arena *texts = report_arena(report);
    const struct usage *best = NULL;

    for (size_t i = 0; i < tally_usage_count(question->tally); i++) {
        const struct usage *usage = tally_usage_at(question->tally, i);

        if (usage->kind == USAGE_MODULE && (!best || usage->peak_bytes > best->peak_bytes))
            best = usage;
    }
    if (best)
        report_verdict(report, RANK_MODULES, "Module %s held most at once: %s of %s.",
                       module_label(report, best->id), label_size(texts, best->peak_bytes),
                       label_ledger(question, texts, best->ledger));
    else if (!has_process_counter(question))
        report_verdict(report, RANK_MODULES,
                       "No allocation says which module of the driver asked for it.");
}
