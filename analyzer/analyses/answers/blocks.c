/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks themselves, filtered: by name, by size, by when they were alive.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "block_list.h"
#include "labels.h"
#include "plain_analyses.h"

struct selection {
    const struct question *question;
    struct block_list blocks;
    uint64_t unreleased_bytes, unreleased_count;
    uint64_t first_ns, last_ns; /* births */
    bool has_failed;
};

static bool has_name(const struct question *question, const struct group_detail *detail)
{
    const char *part = question->blocks.name;
    const char *names[] = {
        detail->site ? symbols_label(question->symbols, detail->site) : "",
        model_text_at(question->model, detail->operator_text),
        model_text_at(question->model, detail->owner_text),
    };

    if (!part)
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strstr(names[i], part))
            return true;
    return false;
}

/* A time since the start of the run, or since 1970. */
static uint64_t time_of(const struct model_process *process, uint64_t time_ns)
{
    static const uint64_t since_1970 = UINT64_C(1000000000000000000);

    if (time_ns < since_1970 || time_ns == UINT64_MAX || !process->start_realtime_ns)
        return time_ns;
    return time_ns - (process->start_realtime_ns - process->start_ns);
}

static bool is_wanted(const struct question *question, const struct life *life)
{
    const struct block_filter *filter = &question->blocks;
    const struct group_detail *detail = tally_detail_at(question->tally, life->group);
    const struct model_process *process =
        model_process_at(tally_model(question->tally), detail->process);

    return life->size_bytes >= filter->least_bytes && life->size_bytes <= filter->most_bytes &&
           life->born_ns <= time_of(process, filter->to_ns) &&
           life->freed_ns > time_of(process, filter->from_ns) && has_name(question, detail);
}

static bool on_over(void *context, const struct life *life)
{
    struct selection *selection = context;

    if (!is_wanted(selection->question, life))
        return true;
    if (life->born_ns < selection->first_ns)
        selection->first_ns = life->born_ns;
    if (life->born_ns > selection->last_ns)
        selection->last_ns = life->born_ns;
    if (life->freed_ns == UINT64_MAX) {
        selection->unreleased_bytes += life->size_bytes;
        selection->unreleased_count++;
    }
    selection->has_failed = !block_list_put(&selection->blocks, life);
    return !selection->has_failed;
}

static void add_facts(const struct selection *selection, struct report *report)
{
    struct arena *texts = report_arena(report);
    const struct block_list *blocks = &selection->blocks;

    report_fact(report, "block_count", "Blocks", value_count(blocks->all_count));
    report_fact(report, "blocks_bytes", "In all", value_bytes(blocks->all_bytes));
    if (blocks->all_count) {
        report_fact(report, "smallest_bytes", "Smallest", value_bytes(blocks->smallest_bytes));
        report_fact(report, "largest_bytes", "Largest", value_bytes(blocks->largest_bytes));
        report_fact(report, "first_born_ns", "First made", value_time(selection->first_ns));
        report_fact(report, "last_born_ns", "Last made", value_time(selection->last_ns));
    }
    report_fact(report, "unreleased_count", "Never freed",
                value_count(selection->unreleased_count));
    report_fact(report, "unreleased_bytes", NULL, value_bytes(selection->unreleased_bytes));
    if (!blocks->all_count) {
        report_verdict(report, RANK_PEAK, "No blocks match.");
        return;
    }
    report_verdict(report, RANK_PEAK, "%s of %s in all; %s of them never freed.",
                   label_counted(texts, blocks->all_count, "block"),
                   label_size(texts, blocks->all_bytes),
                   label_count(texts, selection->unreleased_count));
}

static void *selection_begin(const struct question *question, struct life_visitor *visitor)
{
    struct selection *selection = calloc(1, sizeof(*selection));

    if (!selection)
        return NULL;
    selection->question = question;
    selection->first_ns = UINT64_MAX;
    block_list_init(&selection->blocks, question->top);
    *visitor = (struct life_visitor){.context = selection, .over = on_over};
    return selection;
}

static void selection_write(void *state, struct report *report)
{
    struct selection *selection = state;

    if (selection->has_failed) {
        report_note(report, 0, "blocks: not enough memory");
        return;
    }
    add_facts(selection, report);
    block_list_show(&selection->blocks, selection->question, report,
                    report_table(report, "blocks", "Blocks, largest first", "No matching blocks."),
                    0);
}

static void selection_release(void *state)
{
    struct selection *selection = state;

    block_list_release(&selection->blocks);
    free(selection);
}

const struct block_analysis blocks_analysis = {
    .name = "blocks",
    .begin = selection_begin,
    .write = selection_write,
    .release = selection_release,
};
