/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is alive at the end of each step, and what is new against the step before.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "labels.h"
#include "ledger_order.h"
#include "listed_steps.h"
#include "plain_analyses.h"
#include "step_news.h"

/* What a ledger held when the step of this index ended; NULL: it did not. */
static const struct step_row *row_at(const struct tally *tally, uint32_t index, uint16_t ledger)
{
    const struct step *step = tally_step_of(tally, tally_ledger_at(tally, ledger)->process, index);

    return step && step->is_ended ? tally_step_row_of(tally, step, ledger) : NULL;
}

static struct value phase_peak(const struct step_row *row, enum step_phase phase)
{
    return row->phase_peaks_bytes[phase] ? value_bytes(row->phase_peaks_bytes[phase])
                                         : value_none();
}

static void add_step(const struct question *question, struct report *report,
                     struct report_table *table, const struct step *step,
                     const struct step_row *row, const struct step_row *before,
                     const struct news *news)
{
    struct arena *texts = report_arena(report);
    const struct field fields[] = {
        {"step", "step", value_step(step->number)},
        {"ledger", "ledger", value_text(label_ledger(question, texts, row->ledger))},
        {"end_bytes", "alive at end", value_bytes(row->end_bytes)},
        {"end_count", "blocks", value_count(row->end_count)},
        {"change_bytes", "change",
         value_change(VALUE_BYTES_CHANGE,
                      (int64_t)(row->end_bytes - (before ? before->end_bytes : 0)))},
        {"peak_bytes", "peak in step", value_bytes(row->peak_bytes)},
        {"forward_peak_bytes", "forward", phase_peak(row, PHASE_FORWARD)},
        {"backward_peak_bytes", "backward", phase_peak(row, PHASE_BACKWARD)},
        {"optimizer_peak_bytes", "optimizer", phase_peak(row, PHASE_OPTIMIZER)},
        {"allocated_bytes", "allocated", value_bytes(row->alloc_bytes)},
        {"allocated_count", "allocs", value_count(row->alloc_count)},
        {"duration_ns", "time", value_number(VALUE_DURATION_NS, step->end_ns - step->begin_ns)},
        {"new_bytes", "most new", news->origin ? value_bytes(news->grown_bytes) : value_none()},
        {"new_site", "by",
         news->origin ? value_who(question, texts, news->origin->who) : value_none()},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

static void add_steps(const struct question *question, struct report *report,
                      struct report_table *table, uint16_t ledger, const struct news *news)
{
    uint16_t process = tally_ledger_at(question->tally, ledger)->process;
    uint32_t last = tally_process_at(question->tally, process).ended_step_count;
    uint32_t first = listed_steps_first(question, process);
    const struct step_row *before = row_at(question->tally, first - 1, ledger);

    for (uint32_t index = first; index <= last; index++) {
        const struct step_row *row = row_at(question->tally, index, ledger);

        if (row)
            add_step(question, report, table, tally_step_of(question->tally, process, index), row,
                     before, &news[index]);
        before = row;
    }
    listed_steps_remark(question, report, table, ledger);
}

/* What is the same whenever a step ends would fill pages with one number. */
static bool changes(const struct tally *tally, uint16_t ledger)
{
    uint16_t process = tally_ledger_at(tally, ledger)->process;
    uint32_t last = tally_process_at(tally, process).ended_step_count;
    const struct step_row *first = NULL;

    for (uint32_t index = 1; index <= last; index++) {
        const struct step_row *row = row_at(tally, index, ledger);

        if (row && first && row->end_bytes != first->end_bytes)
            return true;
        first = first ? first : row;
    }
    return first && first->end_count && tally_step_count(tally) == 1;
}

static void add_ledger(const struct question *question, struct report *report,
                       struct report_table *table, const struct origins *origins, uint16_t ledger)
{
    uint16_t process = tally_ledger_at(question->tally, ledger)->process;
    uint32_t last = tally_process_at(question->tally, process).ended_step_count;
    struct news *news = last ? calloc((size_t)last + 1, sizeof(*news)) : NULL;

    if (news && step_news_of(question, origins, ledger, news, last))
        add_steps(question, report, table, ledger, news);
    free(news);
}

void analyse_steps(const struct question *question, struct report *report)
{
    struct report_table *table;
    struct origins origins;
    size_t count, left_out = 0;
    uint16_t *order;

    if (!tally_step_count(question->tally))
        return;
    table = report_table(report, "steps", "Alive at the end of each step", "No step ended.");
    order = ledger_order(question->tally, &count);
    if (!order || !origins_init_of(&origins, question, ORIGINS_BY_SITE, group_is_in_steps)) {
        report_note(report, 0, "steps: not enough memory to list sites");
        free(order);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!question->top || changes(question->tally, order[i]))
            add_ledger(question, report, table, &origins, order[i]);
        else
            left_out += tally_process_at(question->tally,
                                         tally_ledger_at(question->tally, order[i])->process)
                            .ended_step_count > 0;
    }
    if (left_out)
        report_table_remark(report, table, "Left out: %s with the same alive at every step end.",
                            label_counted(report_arena(report), left_out, "ledger"));
    origins_release(&origins);
    free(order);
}

/* A job that ran out of memory at once, or one that was recorded up to there. */
static bool is_within_first_step(const struct tally *tally)
{
    bool has_begun = false;

    for (size_t i = 0; i < model_process_count(tally_model(tally)); i++) {
        struct tally_process process = tally_process_at(tally, (uint16_t)i);

        if (process.ended_step_count)
            return false;
        has_begun |= process.step_count > 0;
    }
    return has_begun;
}

/* The verdict of `leaktide steps` alone: how far the first ledger moved. */
void analyse_steps_verdict(const struct question *question, struct report *report)
{
    struct arena *texts = report_arena(report);
    const struct step *first = NULL, *last = NULL;
    const struct step_row *from = NULL, *to = NULL;
    size_t count;
    uint16_t *order = ledger_order(question->tally, &count);

    for (size_t i = 0; order && count && i < tally_step_count(question->tally); i++) {
        const struct step *step = tally_step_at(question->tally, i);
        const struct step_row *row = tally_step_row_of(question->tally, step, order[0]);

        if (!row)
            continue;
        first = from ? first : step;
        from = from ? from : row;
        last = step;
        to = row;
    }
    if (to && first == last) {
        report_verdict(report, RANK_STEPS, "%s held %s after step %" PRIu64 ", the only one.",
                       label_ledger(question, texts, order[0]), label_size(texts, to->end_bytes),
                       last->number);
    } else if (to) {
        report_verdict(report, RANK_STEPS,
                       "%s held %s after step %" PRIu64 " and %s after step %" PRIu64 ".",
                       label_ledger(question, texts, order[0]), label_size(texts, from->end_bytes),
                       first->number, label_size(texts, to->end_bytes), last->number);
    } else {
        if (is_within_first_step(question->tally))
            report_verdict(report, RANK_STEPS,
                           "No step ended: the recording ends within the first one.");
        else
            report_verdict(report, RANK_STEPS, "No steps: the program marked none.");
        report_outcome(report, REPORT_NO_DATA);
    }
    free(order);
}
