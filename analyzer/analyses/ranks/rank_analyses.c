/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording is gathered into the tables of a summary, and these are asked: the same sentences as
 * from summaries on disk.
 */
#include "rank_analyses.h"

#include <inttypes.h>

#include "rank_answer.h"
#include "rank_gather.h"
#include "rank_layout.h"

/* --- ranks ------------------------------------------------------------------------------------ */

static bool uses_device(const struct question *question, uint16_t process, int32_t device)
{
    for (size_t i = 0; i < tally_ledger_count(question->tally); i++) {
        const struct ledger *ledger = tally_ledger_at(question->tally, i);

        if (ledger->process == process && ledger->device == device &&
            ledger->kind == LEDGER_MEMORY && ledger->peak_bytes)
            return true;
    }
    return false;
}

static void note_shared_devices(const struct question *question, struct report *report)
{
    enum { devices_most = 64 };

    for (int32_t device = 0; device < devices_most; device++) {
        size_t users = 0;

        for (size_t i = 0; i < model_process_count(question->model); i++)
            users += uses_device(question, (uint16_t)i, device);
        if (users > 1)
            report_note(report, users,
                        report_text(report,
                                    "processes hold memory of device %" PRId32 " at some time",
                                    device));
    }
}

static void answer_ranks(const struct question *question, const struct verdict *verdict,
                         bool is_part_of_report, struct report *report)
{
    struct rank_layout layout;
    struct rank_set set;

    rank_set_init(&set, false);
    rank_gather(question, verdict, &(struct rank_wish){.summary = &set.summary});
    if (rank_layout_read(question->parallel, &layout, NULL) == MT_OK)
        rank_layout_apply(&layout, &set.summary);
    rank_set_take(&set);
    if (!rank_set_finish(&set) ||
        !rank_answer(&set,
                     &(struct rank_question){.top = question->top,
                                             .is_part_of_report = is_part_of_report,
                                             .has_pictures =
                                                 question->is_for_pictures && !is_part_of_report},
                     report))
        report_note(report, 0, "ranks: not enough memory to compare");
    if (set.compared_count > 1)
        note_shared_devices(question, report);
    rank_set_release(&set);
}

static void ranks_write(void *state, struct report *report)
{
    struct verdict_search *search = state;
    const struct question *question = verdict_search_question(search);

    answer_ranks(question, verdict_search_result(search), false, report);
    if (process_count_meant(question) > 1)
        return;
    report_verdict(report, RANK_MODULES, "Only one process was recorded: nothing to compare.");
    report_outcome(report, REPORT_NO_DATA);
}

const struct block_analysis ranks_analysis = {
    .name = "ranks",
    .is_early = true,
    .begin = verdict_search_begin,
    .write = ranks_write,
    .release = verdict_search_release,
};

void analyse_known_ranks(const struct question *question, struct report *report)
{
    struct model *model = tally_model(question->tally);
    const struct verdict *verdict;
    size_t known = 0;

    for (size_t i = 0; i < model_process_count(model); i++)
        known += model_process_at(model, (uint16_t)i)->rank >= 0;
    if (known < 2)
        return;
    verdict = verdict_borrow(question);
    answer_ranks(question, verdict, true, report);
    verdict_give_back(question, verdict);
}

/* --- a summary -------------------------------------------------------------------------------- */

static void summary_write_rows(void *state, struct report *report)
{
    struct verdict_search *search = state;
    const struct question *question = verdict_search_question(search);

    (void)report;
    if (question->wish)
        rank_gather(question, verdict_search_result(search), question->wish);
}

const struct block_analysis summary_analysis = {
    .name = "summary",
    .is_early = true,
    .begin = verdict_search_begin,
    .write = summary_write_rows,
    .release = verdict_search_release,
};
