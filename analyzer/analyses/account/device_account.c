/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device had in use, as its driver told it, against what the recording accounts for:
 *
 *   device in use = pools that take from the driver + what nobody here took
 *
 * A pool of a framework takes its memory from the driver's pool, so only the lowest pool that was
 * recorded counts. The rest is the context, other programs, and what is below the driver's calls.
 * Everything is the highest of its own: samples are seldom, so there is no one moment.
 */
#include <stdlib.h>
#include <string.h>

#include "account_analyses.h"
#include "driver_modules.h"
#include "labels.h"
#include "ledger_figures.h"
#include "ledger_layers.h"
#include "sentence.h"

/* The lowest pool of the device that handed something out; NULL: none. */
static const struct pool *lowest_pool(const struct question *question, int32_t device)
{
    const struct pool *lowest = NULL;

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);
        const struct pool *pool = model_pool_at(question->model, ledger->pool);

        if (ledger->device == device && ledger_is_of_device(question->tally, ledger) &&
            (!lowest || pool->id < lowest->id))
            lowest = pool;
    }
    return lowest;
}

static void add_row(struct report *report, struct report_table *table, int32_t device,
                    const char *part, uint64_t bytes, uint64_t whole_bytes)
{
    const struct field fields[] = {
        {"device", "device", value_step((uint64_t)device)},
        {"part", "part", value_text(part)},
        {"highest_bytes", "highest", value_bytes(bytes)},
        {"share_percent", "share",
         value_number(VALUE_PERCENT, bytes * 100 / (whole_bytes ? whole_bytes : 1))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static uint64_t highest_used(const struct question *question, int32_t device)
{
    uint64_t highest = 0;

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        if (model_place_at(question->model, row->place).device == device &&
            ends_with(model_text_at(question->model, row->counter), " used") &&
            row->high_bytes > highest)
            highest = row->high_bytes;
    }
    return highest;
}

/* Where no pool of the driver was recorded, those of the frameworks, with what they reserved. */
static bool is_counted(const struct question *question, const struct ledger *ledger,
                       const struct pool *lowest)
{
    if (!lowest)
        return ledger->kind == LEDGER_MEMORY && !ledger_below(question->tally, ledger);
    return ledger_is_of_device(question->tally, ledger) &&
           model_pool_at(question->model, ledger->pool)->family == lowest->family;
}

/* Bytes of all; table NULL: only counted. */
static uint64_t add_pools(const struct question *question, struct report *report,
                          struct report_table *table, int32_t device, uint64_t used_bytes)
{
    const struct pool *lowest = lowest_pool(question, device);
    uint64_t sum = 0;

    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);
        uint64_t held_bytes;

        if (ledger->device != device || !is_counted(question, ledger, lowest))
            continue;
        held_bytes = ledger_figures_of(question, (uint16_t)i).held_bytes;
        if (!held_bytes)
            continue;
        if (table)
            add_row(report, table, device,
                    label_ledger(question, report_arena(report), (uint16_t)i), held_bytes,
                    used_bytes);
        sum += held_bytes;
    }
    return sum;
}

/* Samples are seldom: the pools may have been higher than any of them. */
static void add_device(const struct question *question, struct report *report,
                       struct report_table *table, int32_t device)
{
    uint64_t known_bytes = add_pools(question, report, NULL, device, 0);
    uint64_t used_bytes = highest_used(question, device);

    used_bytes = known_bytes > used_bytes ? known_bytes : used_bytes;
    add_row(report, table, device, translated("in use, at least"), used_bytes, used_bytes);
    add_pools(question, report, table, device, used_bytes);
    add_row(report, table, device, "unattributed", used_bytes - known_bytes, used_bytes);
}

/* Several processes see one device: the highest that any of them saw. */
static bool is_first_of_device(const struct question *question, size_t index)
{
    int32_t device =
        model_place_at(question->model, tally_sample_at(question->tally, index)->place).device;

    for (size_t i = 0; i < index; i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);

        if (model_place_at(question->model, row->place).device == device &&
            ends_with(model_text_at(question->model, row->counter), " used"))
            return false;
    }
    return true;
}

void analyse_device_account(const struct question *question, struct report *report)
{
    struct report_table *table = report_table(
        report, "device_account", "What the device had in use, as its driver tells", NULL);
    bool is_any = false;

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *row = tally_sample_at(question->tally, i);
        int32_t device = model_place_at(question->model, row->place).device;

        if (device < 0 || !ends_with(model_text_at(question->model, row->counter), " used") ||
            !is_first_of_device(question, i))
            continue;
        is_any = true;
        add_device(question, report, table, device);
    }
    if (is_any)
        report_table_remark(report, table,
                            "Unattributed: the context, other programs on the device, and what was "
                            "taken before the recording.");
}
