/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of a process, beside its sites: operators, counters, resident memory, refused requests.
 */
#include "rank_gather_parts.h"

#include "refusals.h"

enum { OPERATOR_SHARE = 100 };

void gather_operators(struct gathering *gathering)
{
    const struct question *question = gathering->question;
    struct summary *summary = gathering->summary;

    for (size_t i = 0; i < tally_usage_count(question->tally); i++) {
        const struct usage *usage = tally_usage_at(question->tally, i);
        const struct ledger *ledger = tally_ledger_at(question->tally, usage->ledger);
        size_t row;

        if (usage->kind != USAGE_OPERATOR ||
            usage->peak_bytes < ledger->peak_bytes / OPERATOR_SHARE)
            continue;
        row =
            gathered_row(gathering, SUMMARY_operators,
                         (struct gathered_columns){COLUMN_operators_process_key,
                                                   COLUMN_operators_pool, COLUMN_operators_device},
                         usage->ledger);
        summary_put_text(summary, COLUMN_operators_operator, row,
                         model_text_at(question->model, usage->id));
        summary_put(summary, COLUMN_operators_peak_bytes, row, usage->peak_bytes);
        summary_put(summary, COLUMN_operators_peak_time_ns, row, usage->peak_time_ns);
        summary_put(summary, COLUMN_operators_alloc_bytes, row, usage->alloc_bytes);
        summary_put(summary, COLUMN_operators_alloc_count, row, usage->alloc_count);
    }
}

void gather_counters(struct gathering *gathering)
{
    const struct question *question = gathering->question;
    struct summary *summary = gathering->summary;

    for (size_t i = 0; i < tally_sample_count(question->tally); i++) {
        const struct sample_row *sample = tally_sample_at(question->tally, i);
        int32_t device = model_place_at(question->model, sample->place).device;
        size_t row = summary_add(summary, SUMMARY_modules);

        summary_put_text(summary, COLUMN_modules_process_key, row,
                         gathering->keys[sample->process]);
        if (device >= 0)
            summary_put(summary, COLUMN_modules_device, row, (uint64_t)device);
        summary_put_text(summary, COLUMN_modules_counter, row,
                         model_text_at(question->model, sample->counter));
        summary_put(summary, COLUMN_modules_first_bytes, row, sample->first_bytes);
        summary_put(summary, COLUMN_modules_last_bytes, row, sample->last_bytes);
        summary_put(summary, COLUMN_modules_high_bytes, row, sample->high_bytes);
        summary_put(summary, COLUMN_modules_high_time_ns, row, sample->high_ns);
    }
}

void gather_account(struct gathering *gathering, uint16_t process)
{
    const struct memory_accounts *accounts = tally_accounts(gathering->question->tally);
    struct summary *summary = gathering->summary;
    size_t count, first = memory_accounts_of(accounts, process, &count);
    const struct memory_account *highest;

    if (!count)
        return;
    highest = &accounts->rows[memory_accounts_highest(accounts, first, count)];
    for (size_t i = 0; i < ACCOUNT_PART_COUNT; i++) {
        uint64_t bytes = memory_account_part(highest, (enum account_part)i);
        size_t row;

        if (!bytes)
            continue;
        row = summary_add(summary, SUMMARY_account);
        summary_put_text(summary, COLUMN_account_process_key, row, gathering->keys[process]);
        summary_put_text(summary, COLUMN_account_part, row,
                         account_part_name((enum account_part)i));
        summary_put(summary, COLUMN_account_resident_bytes, row, bytes);
        summary_put(summary, COLUMN_account_time_ns, row, highest->time_ns);
    }
}

void gather_failures(struct gathering *gathering)
{
    const struct question *question = gathering->question;
    struct model *model = tally_model(question->tally);
    struct summary *summary = gathering->summary;

    for (size_t i = 0; i < tally_failure_count(question->tally); i++) {
        const struct failure *failure = tally_failure_at(question->tally, i);
        uint16_t process = tally_ledger_at(question->tally, failure->ledger)->process;
        const struct model_process *of = model_process_at(model, process);
        size_t row;

        if (refusal_fate(question->tally, failure) == REFUSAL_SURVIVED)
            continue;
        row = gathered_row(gathering, SUMMARY_failures,
                           (struct gathered_columns){COLUMN_failures_process_key,
                                                     COLUMN_failures_pool, COLUMN_failures_device},
                           failure->ledger);

        if (failure->site)
            summary_put_text(
                summary, COLUMN_failures_site, row,
                label_who(question, &gathering->arena, (struct who){.site = failure->site}));
        summary_put(summary, COLUMN_failures_time_ns, row, failure->time_ns);
        if (of->start_realtime_ns)
            summary_put(summary, COLUMN_failures_realtime_ns, row,
                        of->start_realtime_ns - of->start_ns + failure->time_ns);
        if (tally_process_at(question->tally, process).step_count)
            summary_put(summary, COLUMN_failures_step, row,
                        step_number(question->tally, process, failure->step));
        summary_put(summary, COLUMN_failures_size_bytes, row, failure->size_bytes);
        summary_put(summary, COLUMN_failures_live_bytes, row, failure->live_bytes);
    }
}
