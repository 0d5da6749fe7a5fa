/* SPDX-License-Identifier: Apache-2.0 */
#include "listed_steps.h"

#include <inttypes.h>

#include "labels.h"

/* Of all tables of a page together they are as many as one table may have: none of them is cut. */
enum { page_rows_least = 500 };

/* Of one ledger; 0: all. A program that reads gets all, a page what a browser likes to have. */
static size_t most_of(const struct question *question)
{
    size_t share;

    if (question->top || !question->is_for_pictures)
        return question->top;
    share = REPORT_PAGE_ROWS / (tally_ledger_count(question->tally) + 1);
    return share > page_rows_least ? share : page_rows_least;
}

uint32_t listed_steps_first(const struct question *question, uint16_t process)
{
    uint32_t last = tally_process_at(question->tally, process).ended_step_count;
    size_t most = most_of(question);

    return most && last > most ? last - (uint32_t)most + 1 : 1;
}

void listed_steps_remark(const struct question *question, struct report *report,
                         struct report_table *table, uint16_t ledger)
{
    uint16_t process = tally_ledger_at(question->tally, ledger)->process;
    uint32_t last = tally_process_at(question->tally, process).ended_step_count;
    uint32_t first = listed_steps_first(question, process);

    if (first > 1)
        report_table_remark(report, table, "Only the last %" PRIu32 " of %" PRIu32 " steps of %s.",
                            last - first + 1, last,
                            label_ledger(question, report_arena(report), ledger));
}
