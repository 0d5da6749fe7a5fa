/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of a tally: tally_check.c and tally_rows_check.c.
 *
 * The tally has two blocks of an operator and a module in a step that has ended, an open step, and
 * a row of each kind.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "death.h"
#include "tally_state.h"

static struct tally *tally;
static struct model *model;
static uint64_t now_ns;

static void feed(struct event event)
{
    event.time_ns = now_ns += 1000;
    if (tally_feed(tally, &event, 1, NULL) != MT_OK)
        _exit(1);
}

static uint32_t text(const char *bytes)
{
    return model_text(model, bytes, strlen(bytes));
}

static void make(void)
{
    uint16_t place, pool;
    uint32_t site;

    if (model_create(&model, NULL) != MT_OK || tally_create(model, &tally, NULL) != MT_OK)
        _exit(1);
    model_thread(model, (struct model_thread){.thread_id = 1});
    model_thread(model, (struct model_thread){.thread_id = 2});
    pool = model_pool(model, text("pta"));
    place = model_place(model, (struct mt_place){.device = 0, .module = 3});
    site = model_site(model, (struct model_site){.address = 16});
    feed((struct event){.kind = EVENT_STEP_BEGIN, .value = 1});
    feed((struct event){.kind = EVENT_OPERATOR_BEGIN, .text = text("matmul")});
    for (uint64_t i = 1; i < 4; i++)
        feed((struct event){.kind = EVENT_ALLOC,
                            .address = 0x1000 * i,
                            .value = 100,
                            .site = site,
                            .pool = pool,
                            .place = place});
    feed((struct event){.kind = EVENT_SAMPLE, .text = text("used"), .value = 50, .place = place});
    feed((struct event){.kind = EVENT_SAMPLE, .text = text("used"), .value = 70, .place = place});
    feed((struct event){.kind = EVENT_ALLOC_FAILED, .value = 9, .pool = pool, .place = place});
    feed((struct event){.kind = EVENT_ALLOC_FAILED, .value = 9, .pool = pool, .place = place});
    feed((struct event){.kind = EVENT_RESERVED, .value = 4096, .pool = pool, .place = place});
    feed((struct event){.kind = EVENT_FREE, .address = 0x9000, .pool = pool}); /* unknown */
    feed((struct event){.kind = EVENT_STEP_END, .value = 1});
    feed((struct event){.kind = EVENT_STEP_BEGIN, .value = 2});
    feed((struct event){.kind = EVENT_FREE, .address = 0x3000, .pool = pool});
    feed((struct event){.kind = EVENT_ALLOC,
                        .address = 0x4000,
                        .value = 10,
                        .site = site,
                        .pool = pool,
                        .place = place});
    tally_check(tally);
}

static struct group *group(void)
{
    return group_at(tally, 1);
}

static struct group_detail *detail(void)
{
    return table_at(&tally->details, 1);
}

static struct group_past *past(void)
{
    return tally_past_for(tally, 1);
}

static struct ledger *ledger(void)
{
    return ledger_at(tally, group()->ledger);
}

static struct usage *usage(size_t index)
{
    return table_at(&tally->usages, index);
}

static struct step *step(size_t index)
{
    return table_at(&tally->steps, index);
}

static struct step_row *row(void)
{
    return table_at(&tally->step_rows, 0);
}

static struct sample_row *sample(void)
{
    return table_at(&tally->samples, 0);
}

static struct failure *failure(size_t index)
{
    return table_at(&tally->failures, index);
}

static struct baseline *baseline(void)
{
    return table_at(&tally->baselines, 0);
}

/* Nothing that changed since the newest step end. */
static void untouch(void)
{
    group()->flags &= (uint16_t)~GROUP_TOUCHED;
    tally->touched_count = 0;
}

#define LOOK(name, ...) DAMAGE(make, name, __VA_ARGS__; tally_check(tally))

LOOK(operator_usage, detail()->operator_usage = 9)
LOOK(module_usage, detail()->module_usage = 9)
LOOK(group_past, detail()->past = 99)
LOOK(nn_module, detail()->nn_module_text = 9999)
LOOK(nn_modules, tally->threads[0].nn_modules.count = 100)
LOOK(operator_without_usage, detail()->operator_text = 0)
LOOK(usage_without_flag, group()->flags &= (uint16_t)~GROUP_HAS_USAGE)
LOOK(told_alloc_bytes, tally->touched[0].alloc_bytes = 1000)
LOOK(told_alloc_count, tally->touched[0].alloc_count = 1000)
LOOK(told_live_count, tally->touched[0].live_count = 9)
LOOK(untold_allocs, untouch())
LOOK(past_row, detail()->past = 9)
LOOK(freed_age, past()->freed_age_at_end = 5)
LOOK(left_steps, past()->left_steps = 100)
LOOK(left_bytes, past()->left_steps = 0; past()->left_count = 0)
LOOK(left_steps_of_all, past()->left_steps = 3)
LOOK(crossing_step, past()->crossing_step = 1)
LOOK(waiting_epoch, past()->waiting_bytes = 1)
LOOK(waiting_bytes, past()->waiting_epoch = ledger()->peak_epoch; past()->waiting_bytes = 4096)
LOOK(ledger_peak_number, ledger()->peak_number = UINT64_MAX)
LOOK(example, past()->example_bytes = 1)
LOOK(group_ledger_index, group()->ledger = 9)
LOOK(group_ledgers, tally->group_ledgers[1] = 7)
LOOK(group_process, detail()->process = 3)
LOOK(group_pool, detail()->pool++)
LOOK(group_epoch, group()->peak_epoch = 100)
LOOK(group_peak, group()->peak_count = 0; group()->peak_bytes = 1)
LOOK(born_bytes, group()->born_bytes = 1000)
LOOK(born_count, group()->born_count = 1000)
LOOK(born_nothing, group()->born_count = 0)
LOOK(live_nothing, group()->live_count = group()->born_count = 0; group()->born_bytes = 0)
LOOK(ledger_kind, ledger()->kind = LEDGER_KIND_COUNT)
LOOK(ledger_device, ledger()->device = -2)
LOOK(ledger_live, ledger()->live_bytes = UINT64_MAX)
LOOK(ledger_phase_peak, ledger()->phase_peak_bytes = UINT64_MAX)
LOOK(ledger_step_peak, ledger()->step_peak_bytes = UINT64_MAX)
LOOK(ledger_epoch, group()->peak_epoch = ledger()->peak_epoch = 0)
LOOK(ledger_peak_group, ledger()->peak_group = 9)
LOOK(ledger_era_bytes, ledger()->era_alloc_bytes = UINT64_MAX)
LOOK(ledger_era_count, ledger()->era_alloc_count = UINT64_MAX)
LOOK(ledger_reserved, ledger()->reserved_bytes = 5000)
LOOK(ledger_not_reserved, ledger()->has_reserved = false)
LOOK(ledger_older, ledger()->older_beside_bytes = 1)
LOOK(ledger_phase, ledger()->phase_peaks_bytes[1] = UINT64_MAX)
LOOK(sum_live_bytes, ledger()->live_bytes--)
LOOK(sum_live_count, ledger()->live_count++)
LOOK(sum_alloc_bytes, ledger()->alloc_bytes++)
LOOK(sum_alloc_count, ledger()->alloc_count++)
LOOK(sum_usage_bytes, usage(0)->live_bytes--)
LOOK(sum_usage_count, usage(1)->live_count--)
LOOK(sum_live_set, tally->left_count++)
LOOK(details, tally->details.count--)
LOOK(step_row_ledger, row()->ledger = 9)
LOOK(step_row_end, row()->peak_bytes = 1)
LOOK(step_row_count, row()->end_count = 0)
LOOK(step_row_allocs, row()->alloc_count = 0)
LOOK(step_row_phase, row()->phase_peaks_bytes[1] = UINT64_MAX)
LOOK(step_process, step(0)->process = 9)
LOOK(step_index, step(0)->index = 9)
LOOK(step_rows_of_open, step(0)->is_ended = false)
LOOK(step_rows_missing, step(0)->row_count = 50)
LOOK(step_row_order, tally->ledger_count++; tally->process_first_ledger = tally->ledger_count;
     step(0)->row_count = 2; table_add(&tally->step_rows))
LOOK(process_ended, tally->processes[0].ended_step_count = 9)
LOOK(process_first, tally->processes[0].first_step = 9)
LOOK(process_epoch, tally->processes[0].epoch = 9)
LOOK(open_step_ended, step(1)->is_ended = true)
LOOK(open_step_process, tally->processes[0].step_count = 2; tally->process = 1;
     tally->process_first_ledger = tally->ledger_count)
LOOK(open_step_last, tally->open_step = step(0); step(0)->is_ended = false; step(0)->row_count = 0)
LOOK(usage_ledger, usage(0)->ledger = 9)
LOOK(usage_peak, usage(0)->peak_bytes = 1)
LOOK(usage_live, usage(0)->live_count = 0)
LOOK(usage_allocs, usage(0)->alloc_count = 0)
LOOK(sample_count, sample()->count = 0)
LOOK(sample_low_first, sample()->low_bytes = 60)
LOOK(sample_low_last, sample()->low_bytes = sample()->first_bytes = 90)
LOOK(sample_first_high, sample()->first_bytes = 90)
LOOK(sample_last_high, sample()->last_bytes = 90)
LOOK(failures_most, tally->failures.count = FAILURES_MAX + 1)
LOOK(failure_order, failure(1)->number = 1)
LOOK(failure_number, failure(1)->number = 9)
LOOK(failure_ledger, failure(0)->ledger = 9)
LOOK(failure_newest, failure(0)->is_only_newest = true)
LOOK(baseline_count, baseline()->count = 0; baseline()->bytes = 1)
LOOK(baseline_ledger, baseline()->has_ledger = true; baseline()->ledger = 9)
LOOK(open_count, tally->threads[0].operators.count = 100)
LOOK(open_rows, tally->threads[0].operators.rows = NULL)
LOOK(contexts_none, tally->contexts.count = 0)
LOOK(context, tally->threads[0].context = 9)
LOOK(phase, tally->phase.now = PHASE_COUNT)
LOOK(phase_by_range, tally->phase.by_range = PHASE_COUNT)
LOOK(phase_by_text, tally->phase.by_text[0] = PHASE_COUNT + 1)
LOOK(touched_capacity, tally->touched_count = tally->touched_capacity + 1)
LOOK(touched_flag, group()->flags &= (uint16_t)~GROUP_TOUCHED)
LOOK(touched_no_more, tally->touched_count--)
LOOK(spent_most, tally->spent_count = SPENT_MAX + 1)
LOOK(spent_birth, tally->spent_count = 1; tally->spent[0].birth = 99)
LOOK(era_capacity, tally->era_capacity = tally->era)
LOOK(era_first, tally->era_first--)
LOOK(era_beyond, tally->number = 0)
LOOK(era_order, tally->era_firsts[0] = 99)
LOOK(disorder, tally->disorders[7].until_ns = UINT64_MAX)
LOOK(layer_below, tally->ledgers[0].below = 99)
LOOK(layer_sums, tally->ledgers[0].cut_up_bytes = 1)
LOOK(step_in_a_pause, tally->is_paused = true)
LOOK(first_ledger, tally->process_first_ledger = 99)
LOOK(ledgers_of_others, tally->process = 5)
LOOK(live_peak, tally->counts.live_peak_count = 0)
DAMAGE(make, no_group, tally_group_at(tally, 1000))
DAMAGE(make, no_ledger, tally_ledger_at(tally, 1000))

int main(void)
{
    return deaths_run();
}
