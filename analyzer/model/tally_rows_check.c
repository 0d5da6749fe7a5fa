/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a tally beside groups and ledgers: each names rows that are there, and is what its
 * comment says.
 */
#include "tally_state.h"

static void step_row_check(const struct tally *tally, const struct step_row *row)
{
    MT_ASSERT(row->ledger < tally->ledger_count);
    MT_ASSERT(row->end_bytes <= row->peak_bytes);
    MT_ASSERT(row->end_count || !row->end_bytes);
    MT_ASSERT(row->alloc_count || !row->alloc_bytes);
    for (int i = 0; i < PHASE_COUNT; i++)
        MT_ASSERT(row->phase_peaks_bytes[i] <= row->peak_bytes);
}

static void step_check(const struct tally *tally, const struct step *step)
{
    MT_ASSERT(step->process < tally->process_count);
    MT_ASSERT(step->index && step->index <= tally->processes[step->process].step_count);
    MT_ASSERT(step->is_ended || !step->row_count);
    MT_ASSERT(step->first_row + step->row_count <= tally->step_rows.count);
    for (size_t i = 0; i < step->row_count; i++) {
        const struct step_row *first = table_at(&tally->step_rows, step->first_row);
        const struct step_row *row = table_at(&tally->step_rows, step->first_row + i);

        MT_ASSERT(row->ledger == first->ledger + i);
        step_row_check(tally, row);
    }
}

static void steps_check(const struct tally *tally)
{
    for (size_t i = 0; i < tally->steps.count; i++)
        step_check(tally, table_at(&tally->steps, i));
    for (size_t i = 0; i < tally->process_count; i++) {
        MT_ASSERT(tally->processes[i].ended_step_count <= tally->processes[i].step_count);
        MT_ASSERT(tally->processes[i].first_step <= tally->steps.count);
        MT_ASSERT(tally->processes[i].epoch <= tally->epoch);
    }
    if (tally->open_step) {
        MT_ASSERT(!tally->open_step->is_ended);
        MT_ASSERT(tally->open_step->process == tally->process);
        MT_ASSERT(tally->open_step == table_at(&tally->steps, tally->steps.count - 1));
    }
}

static void usages_check(const struct tally *tally)
{
    for (size_t i = 0; i < tally->usages.count; i++) {
        const struct usage *usage = table_at(&tally->usages, i);

        MT_ASSERT(usage->ledger < tally->ledger_count);
        MT_ASSERT(usage->live_bytes <= usage->peak_bytes);
        MT_ASSERT(usage->live_count || !usage->live_bytes);
        MT_ASSERT(usage->alloc_count || !usage->alloc_bytes);
    }
}

static void samples_check(const struct tally *tally)
{
    for (size_t i = 0; i < tally->samples.count; i++) {
        const struct sample_row *row = table_at(&tally->samples, i);

        MT_ASSERT(row->count);
        MT_ASSERT(row->low_bytes <= row->first_bytes);
        MT_ASSERT(row->low_bytes <= row->last_bytes);
        MT_ASSERT(row->first_bytes <= row->high_bytes);
        MT_ASSERT(row->last_bytes <= row->high_bytes);
    }
}

static void failures_check(const struct tally *tally)
{
    uint64_t before = 0;

    MT_ASSERT(tally->failures.count <= FAILURES_MAX);
    for (size_t i = 0; i < tally->failures.count; i++) {
        const struct failure *row = table_at(&tally->failures, i);

        MT_ASSERT(before < row->number);
        MT_ASSERT(row->number <= tally->failed_count);
        MT_ASSERT(row->ledger < tally->ledger_count);
        MT_ASSERT(!row->is_only_newest || i == tally->failures.count - 1);
        before = row->number;
    }
    for (size_t i = 0; i < tally->baselines.count; i++) {
        const struct baseline *row = table_at(&tally->baselines, i);

        MT_ASSERT(row->count || !row->bytes);
        MT_ASSERT(!row->has_ledger || row->ledger < tally->ledger_count);
    }
}

static void open_check(const struct open_stack *stack)
{
    MT_ASSERT(stack->count <= stack->capacity);
    MT_ASSERT(!stack->capacity == !stack->rows);
}

static void threads_check(const struct tally *tally)
{
    MT_ASSERT(tally->contexts.count && tally->contexts.count <= CONTEXT_MAX);
    for (size_t i = 0; i < tally->thread_count; i++) {
        const struct thread_state *thread = &tally->threads[i];

        MT_ASSERT(thread->context < tally->contexts.count);
        open_check(&thread->operators);
        open_check(&thread->owners);
        open_check(&thread->ranges);
        open_check(&thread->nn_modules);
    }
    MT_ASSERT(tally->phase.now < PHASE_COUNT);
    MT_ASSERT(tally->phase.by_range < PHASE_COUNT);
    for (size_t i = 0; i < tally->phase.text_count; i++)
        MT_ASSERT(tally->phase.by_text[i] <= PHASE_COUNT);
}

static void touched_check(const struct tally *tally, const struct touched_group *touched)
{
    const struct group *group = group_at(tally, touched->group);

    MT_ASSERT(group->flags & GROUP_TOUCHED);
    MT_ASSERT(touched->alloc_bytes <= group->alloc_bytes);
    MT_ASSERT(touched->alloc_count <= group->alloc_count);
}

static void all_touched_check(const struct tally *tally)
{
    size_t count = 0;

    MT_ASSERT(tally->touched_count <= tally->touched_capacity);
    for (size_t i = 0; i < tally->touched_count; i++)
        touched_check(tally, &tally->touched[i]);
    for (uint32_t i = 1; i < tally->group_count && tally->adds_up; i++)
        count += (group_at(tally, i)->flags & GROUP_TOUCHED) != 0;
    MT_ASSERT(!tally->adds_up || count == tally->touched_count);
}

static void waiting_check(const struct tally *tally)
{
    all_touched_check(tally);
    MT_ASSERT(tally->spent_count <= SPENT_MAX);
    for (size_t i = 0; i < tally->spent_count; i++)
        MT_ASSERT(tally->spent[i].birth < tally->era);
    for (size_t i = 0; i < DISORDER_SLOTS; i++)
        MT_ASSERT(tally->disorders[i].until_ns <= tally->disorder_until_ns);
}

static void eras_check(const struct tally *tally)
{
    MT_ASSERT(tally->era < tally->era_capacity);
    MT_ASSERT(tally->era_firsts[tally->era] == tally->era_first);
    MT_ASSERT(tally->era_first <= tally->number);
    for (uint32_t i = 1; i <= tally->era; i++)
        MT_ASSERT(tally->era_firsts[i - 1] <= tally->era_firsts[i]);
}

/* What ledgers and groups know of their layers is the same. */
static void layers_check(const struct tally *tally)
{
    uint64_t of_ledgers = 0, of_groups = 0;

    for (size_t i = 0; i < tally->ledger_count; i++) {
        MT_ASSERT(tally->ledgers[i].below <= tally->ledger_count);
        of_ledgers += tally->ledgers[i].cut_up_bytes;
    }
    for (size_t i = 1; i < tally->group_count && tally->adds_up; i++)
        of_groups += ((const struct group_detail *)table_at(&tally->details, i))->cut_up_bytes;
    MT_ASSERT(of_ledgers == of_groups);
    MT_ASSERT(!tally->open_step || !tally->is_paused);
}

void tally_rows_check(const struct tally *tally)
{
    MT_ASSERT(tally->process_first_ledger <= tally->ledger_count);
    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++)
        MT_ASSERT(tally->ledgers[i].process == tally->process);
    MT_ASSERT(tally->counts.live_peak_count >= live_set_count(&tally->live));
    eras_check(tally);
    steps_check(tally);
    usages_check(tally);
    samples_check(tally);
    failures_check(tally);
    threads_check(tally);
    waiting_check(tally);
    layers_check(tally);
}
