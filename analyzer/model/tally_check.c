/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups and ledgers of a tally: what is kept twice is the same, and sums are those of their parts.
 */
#include <stdlib.h>

#include "tally_state.h"

static void past_check(const struct tally *tally, const struct group_past *past)
{
    MT_ASSERT(past->freed_age_at_end <= past->freed_age);
    MT_ASSERT(past->left_steps <= past->left_count);
    MT_ASSERT(past->left_count || !past->left_bytes);
    MT_ASSERT(past->left_steps <= tally->epoch);
    MT_ASSERT(past->crossing_steps || !past->crossing_step);
    MT_ASSERT(past->waiting_epoch || !past->waiting_bytes);
    MT_ASSERT(past->example_address || !past->example_bytes);
    step_series_check(&past->series);
    cohorts_check(&past->cohorts);
}

static void detail_check(const struct tally *tally, const struct group *group,
                         const struct group_detail *detail)
{
    MT_ASSERT(detail->operator_usage <= tally->usages.count);
    MT_ASSERT(detail->module_usage <= tally->usages.count);
    MT_ASSERT(!detail->operator_usage == !detail->operator_text);
    MT_ASSERT(!(group->flags & GROUP_HAS_USAGE) ==
              (!detail->operator_usage && !detail->module_usage));
    MT_ASSERT(detail->nn_module_text < model_text_count(tally->model));
    MT_ASSERT(detail->past < tally->pasts.count);
    past_check(tally, table_at(&tally->pasts, detail->past));
}

static void group_check(const struct tally *tally, uint32_t index)
{
    const struct group *group = group_at(tally, index);
    const struct group_detail *detail = table_at(&tally->details, index);

    MT_ASSERT(group->ledger < tally->ledger_count);
    MT_ASSERT(tally->group_ledgers[index] == group->ledger);
    MT_ASSERT(tally->ledgers[group->ledger].process == detail->process);
    MT_ASSERT(tally->ledgers[group->ledger].pool == detail->pool);
    MT_ASSERT(group->peak_epoch <= tally->ledgers[group->ledger].peak_epoch);
    MT_ASSERT(tally->has_huge ||
              group_waiting_bytes(tally, index) <= group_at_peak(tally, index).bytes);
    MT_ASSERT(group->peak_count || !group->peak_bytes);
    MT_ASSERT(group->born_bytes <= group->live_bytes);
    MT_ASSERT(group->born_count <= group->live_count);
    MT_ASSERT(group->born_count || !group->born_bytes);
    MT_ASSERT(group->live_count || !group->live_bytes);
    detail_check(tally, group, detail);
}

static void ledger_check(const struct tally *tally, const struct ledger *ledger)
{
    MT_ASSERT(ledger->kind < LEDGER_KIND_COUNT);
    MT_ASSERT(ledger->device >= -1);
    MT_ASSERT(ledger->live_bytes <= ledger->phase_peak_bytes);
    MT_ASSERT(ledger->phase_peak_bytes <= ledger->step_peak_bytes);
    MT_ASSERT(ledger->step_peak_bytes <= ledger->peak_bytes);
    MT_ASSERT(!ledger->peak_bytes || ledger->peak_epoch);
    MT_ASSERT(ledger->peak_number <= tally->number);
    MT_ASSERT(ledger->peak_group < tally->group_count);
    MT_ASSERT(ledger->era_alloc_bytes <= ledger->alloc_bytes);
    MT_ASSERT(ledger->era_alloc_count <= ledger->alloc_count);
    MT_ASSERT(ledger->reserved_bytes <= ledger->reserved_peak_bytes);
    MT_ASSERT(ledger->has_reserved || !ledger->reserved_bytes);
    MT_ASSERT(ledger->has_older_beside || !ledger->older_beside_bytes);
    for (int i = 0; i < PHASE_COUNT; i++)
        MT_ASSERT(ledger->phase_peaks_bytes[i] <= ledger->step_peak_bytes);
}

/* What the groups of one ledger, or of one operator or module, add up to. */
struct sums {
    uint64_t live_bytes, live_count, alloc_bytes, alloc_count;
};

static void add_group(struct sums *ledger, struct sums *usages, const struct group *group,
                      const struct group_detail *detail)
{
    const uint32_t rows[] = {detail->operator_usage, detail->module_usage};

    ledger->live_bytes += group->live_bytes;
    ledger->live_count += group->live_count;
    ledger->alloc_bytes += group->alloc_bytes;
    ledger->alloc_count += group->alloc_count;
    for (size_t i = 0; i < 2; i++) {
        if (!rows[i])
            continue;
        usages[rows[i] - 1].live_bytes += group->live_bytes;
        usages[rows[i] - 1].live_count += group->live_count;
    }
}

/* What the ledger does not know yet. */
static void take_untold(struct sums *ledger, const struct group *group,
                        const struct touched_group *before)
{
    ledger->live_count -= (uint64_t)group->live_count - before->live_count;
    ledger->alloc_bytes -= group->alloc_bytes - before->alloc_bytes;
    ledger->alloc_count -= group->alloc_count - before->alloc_count;
}

static void compare(const struct tally *tally, const struct sums *ledgers,
                    const struct sums *usages)
{
    for (size_t i = 0; i < tally->ledger_count; i++) {
        MT_ASSERT(tally->ledgers[i].live_bytes == ledgers[i].live_bytes);
        MT_ASSERT(tally->ledgers[i].live_count == ledgers[i].live_count);
        MT_ASSERT(tally->ledgers[i].alloc_bytes == ledgers[i].alloc_bytes);
        MT_ASSERT(tally->ledgers[i].alloc_count == ledgers[i].alloc_count);
    }
    for (size_t i = 0; i < tally->usages.count; i++) {
        const struct usage *usage = table_at(&tally->usages, i);

        MT_ASSERT(usage->live_bytes == usages[i].live_bytes);
        MT_ASSERT(usage->live_count == usages[i].live_count);
    }
}

/* What an observed tally holds is its observer's. */
static void sums_check(const struct tally *tally)
{
    struct sums *ledgers = calloc(tally->ledger_count + tally->usages.count + 1, sizeof(*ledgers));
    struct sums *usages = ledgers + tally->ledger_count;
    uint64_t live_count = 0;

    if (!ledgers)
        return;
    for (uint32_t i = 1; i < tally->group_count; i++) {
        const struct group *group = group_at(tally, i);

        add_group(&ledgers[group->ledger], usages, group, table_at(&tally->details, i));
        live_count += group->live_count;
    }
    for (size_t i = 0; i < tally->touched_count; i++) {
        const struct group *group = group_at(tally, tally->touched[i].group);

        take_untold(&ledgers[group->ledger], group, &tally->touched[i]);
    }
    compare(tally, ledgers, usages);
    MT_ASSERT(live_count == tally->left_count + live_set_count(&tally->live));
    free(ledgers);
}

void tally_check(const struct tally *tally)
{
    if (!tally->known) {
        MT_ASSERT(tally->details.count == tally->group_count);
        for (uint32_t i = 1; i < tally->group_count; i++)
            group_check(tally, i);
    }
    for (size_t i = 0; i < tally->ledger_count; i++)
        ledger_check(tally, &tally->ledgers[i]);
    live_set_check(&tally->live);
    hash_index_check(&tally->group_index);
    tally_rows_check(tally);
    if (tally->adds_up)
        sums_check(tally);
}
