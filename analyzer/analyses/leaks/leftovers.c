/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Born in a step and still alive when it ends, by site: what a step leaves to the next.
 *
 * Mostly it is freed there: gradients, a batch fetched ahead. It is part of what the next step
 * starts with, though, and of its peak.
 */
#include <stdlib.h>

#include "labels.h"
#include "leak_analyses.h"
#include "ledger_layers.h"
#include "origins.h"

struct leftover {
    const struct origin *origin;
    uint64_t bytes, count;
    uint32_t steps; /* that left some */
    uint32_t freed_age;
    struct who who; /* of the group that left most */
};

static int leftover_compare(const void *left, const void *right)
{
    const struct leftover *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->origin < b->origin ? -1 : a->origin > b->origin;
}

static struct leftover leftover_of(const struct tally *tally, const struct origin *origin)
{
    struct leftover sum = {.origin = origin, .who = origin->who};
    uint64_t most_bytes = 0;

    for (size_t i = 0; i < origin->group_count; i++) {
        const struct group_past *past = tally_past_at(tally, origin->groups[i]);
        uint32_t age = past->freed_age_at_end;

        if (past->left_bytes > most_bytes) {
            const struct group_detail *detail = tally_detail_at(tally, origin->groups[i]);

            most_bytes = past->left_bytes;
            sum.who = (struct who){detail->site, detail->operator_text, detail->owner_text, 0};
        }
        sum.bytes += past->left_bytes;
        sum.count += past->left_count;
        sum.steps = past->left_steps > sum.steps ? past->left_steps : sum.steps;
        sum.freed_age = age > sum.freed_age ? age : sum.freed_age;
    }
    return sum;
}

static void add_rows(const struct question *question, struct report *report,
                     const struct leftover *rows, size_t count)
{
    struct arena *texts = report_arena(report);
    struct report_table *table =
        report_table(report, "leftovers", "Born in a step and alive when it ends, by site",
                     "Each step frees what it makes.");
    size_t shown = rows_shown(question, count);

    for (size_t i = 0; i < shown; i++) {
        const struct who who = rows[i].who;
        const struct field fields[] = {
            {"left_bytes_per_step", "left by a step", value_bytes(rows[i].bytes / rows[i].steps)},
            {"left_step_count", "steps", value_count(rows[i].steps)},
            {"left_count", "blocks", value_count(rows[i].count)},
            {"oldest_freed_step_count", "freed after",
             rows[i].freed_age ? value_count(rows[i].freed_age) : value_none()},
            {"site", "site", value_who(question, texts, who)},
            {"operator", "operator",
             who.site ? value_name(question, who.operator_text) : value_none()},
            {"ledger", "ledger", value_text(label_ledger(question, texts, rows[i].origin->ledger))},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more sites.", count - shown);
    report_table_remark(report, table,
                        "Left by a step: the mean of the steps that left some. Freed after: steps, "
                        "at most; none was freed where it is empty.");
}

/* Steps left something of it, or freed what was older. */
static bool outlived_a_step(const struct tally *tally, uint32_t group)
{
    const struct group_past *past = tally_past_at(tally, group);

    return (past->left_steps || past->freed_age_at_end) && group_is_own(tally, group);
}

void analyse_leftovers(const struct question *question, struct report *report)
{
    struct origins origins;
    struct leftover *rows;
    size_t count = 0;

    if (!tally_step_count(question->tally))
        return;
    if (!origins_init_of(&origins, question, ORIGINS_BY_SITE, outlived_a_step)) {
        report_note(report, 0, "leftovers: not enough memory to list sites");
        return;
    }
    rows = malloc((origins.count + 1) * sizeof(*rows));
    for (size_t i = 0; rows && i < origins.count; i++) {
        rows[count] = leftover_of(question->tally, &origins.rows[i]);
        count += rows[count].steps > 0;
    }
    if (rows) {
        qsort(rows, count, sizeof(*rows), leftover_compare);
        add_rows(question, report, rows, count);
    }
    free(rows);
    origins_release(&origins);
}
