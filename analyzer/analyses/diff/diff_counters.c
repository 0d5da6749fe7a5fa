/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters side by side. One is the same on another side when process, name and device are; a
 * device that no other side has goes with the first that is left.
 */
#include "diff_counters.h"

#include <stdlib.h>
#include <string.h>

#include "diff_spread.h"
#include "labels.h"

struct counter_row {
    const char *name;
    int32_t device;
    struct spread high, last;
};

static const char *counter_name(const struct question *question, const struct sample_row *row)
{
    return model_text_at(question->model, row->counter);
}

/* Which of the processes with samples it is, and which of the rows of its name in there. */
static const struct sample_row *partner_of(const struct diff_join *join, size_t side,
                                           const struct question *question,
                                           const struct sample_row *wanted)
{
    const struct question *other = join->sides[side].question;
    int32_t device = model_place_at(question->model, wanted->place).device;
    int32_t rank = model_process_at(tally_model(question->tally), wanted->process)->rank;
    bool is_one =
        model_process_count(question->model) == 1 && model_process_count(other->model) == 1;
    const struct sample_row *any = NULL;

    for (size_t i = 0; i < tally_sample_count(other->tally); i++) {
        const struct sample_row *row = tally_sample_at(other->tally, i);
        int32_t row_rank = model_process_at(tally_model(other->tally), row->process)->rank;
        bool is_process =
            is_one || (rank >= 0 ? rank == row_rank : wanted->process == row->process);

        if (!is_process || strcmp(counter_name(other, row), counter_name(question, wanted)) != 0)
            continue;
        if (model_place_at(other->model, row->place).device == device)
            return row;
        any = any ? any : row;
    }
    return any;
}

static bool row_make(const struct diff_join *join, const struct sample_row *current,
                     struct counter_row *row)
{
    size_t last = join->side_count - 1;
    const struct question *question = join->sides[last].question;
    uint64_t highs[DIFF_SIDES_MOST], ends[DIFF_SIDES_MOST];

    for (size_t side = 0; side < join->side_count; side++) {
        const struct sample_row *here =
            side == last ? current : partner_of(join, side, question, current);

        if (!here)
            return false;
        highs[side] = here->high_bytes;
        ends[side] = here->last_bytes;
    }
    row->name = counter_name(question, current);
    row->device = model_place_at(question->model, current->place).device;
    row->high = spread_of(highs, join->side_count);
    row->last = spread_of(ends, join->side_count);
    return row->high.is_changed || row->last.is_changed;
}

static int row_compare(const void *left, const void *right)
{
    const struct counter_row *a = left, *b = right;

    if (spread_size(a->high) != spread_size(b->high))
        return spread_size(a->high) > spread_size(b->high) ? -1 : 1;
    if (spread_size(a->last) != spread_size(b->last))
        return spread_size(a->last) > spread_size(b->last) ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void add_rows(struct report *report, const struct counter_row *rows, size_t count,
                     size_t top)
{
    struct report_table *table = report_table(
        report, "counter_changes", "Counters of the driver and of the system that changed", NULL);
    size_t shown = top && top < count ? top : count;

    for (size_t i = 0; i < shown; i++) {
        const struct field fields[] = {
            {"counter", "counter", value_text(rows[i].name)},
            {"device", "device",
             rows[i].device < 0 ? value_none() : value_step((uint64_t)rows[i].device)},
            {"base_highest_bytes", "base highest", value_bytes(rows[i].high.base)},
            {"highest_bytes", "highest", value_bytes(rows[i].high.current)},
            {"highest_change_bytes", "change",
             value_change(VALUE_BYTES_CHANGE, rows[i].high.change)},
            {"base_last_bytes", "base last", value_bytes(rows[i].last.base)},
            {"last_bytes", "last", value_bytes(rows[i].last.current)},
            {"last_change_bytes", "change", value_change(VALUE_BYTES_CHANGE, rows[i].last.change)},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more counters.", count - shown);
}

void diff_counters(const struct diff_join *join, struct report *report, size_t top)
{
    const struct tally *tally = join->sides[join->side_count - 1].question->tally;
    struct counter_row *rows = malloc((tally_sample_count(tally) + 1) * sizeof(*rows));
    size_t count = 0;

    if (!rows) {
        report_note(report, 0, "not enough memory to compare counters");
        return;
    }
    for (size_t i = 0; i < tally_sample_count(tally); i++)
        count += row_make(join, tally_sample_at(tally, i), &rows[count]);
    qsort(rows, count, sizeof(*rows), row_compare);
    add_rows(report, rows, count, top);
    free(rows);
}
