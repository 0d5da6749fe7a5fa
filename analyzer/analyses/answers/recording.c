/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was looked at, and what of it is missing.
 */
#include <inttypes.h>
#include <string.h>

#include "labels.h"
#include "path_text.h"
#include "plain_analyses.h"
#include "process_end.h"
#include "sentence.h"

/* The first that is no helper; 0: there is none. */
static uint16_t first_meant(struct model *model)
{
    for (size_t i = 0; i < model_process_count(model); i++)
        if (!model_process_at(model, (uint16_t)i)->is_helper)
            return (uint16_t)i;
    return 0;
}

static void add_program(const struct question *question, struct report *report)
{
    struct model *model = tally_model(question->tally);
    size_t helper_count = model_helper_count(question->model);
    const struct model_process *first, *meant;
    const char *program;

    if (!model_process_count(question->model))
        return;
    first = model_process_at(model, 0);
    meant = model_process_at(model, first_meant(model));
    program = model_text_at(model, meant->command_line ? meant->command_line : meant->executable);
    report_fact(report, "program", *program ? "Program" : NULL, value_text(program));
    if (process_count_meant(question) > 1)
        report_fact(report, "process_count", "Processes",
                    value_count(process_count_meant(question)));
    else
        report_fact(report, "process_id", NULL, value_step(meant->process_id));
    if (helper_count)
        report_fact(report, "helper_count", "Helpers", value_count(helper_count));
    if (first->start_realtime_ns)
        report_fact(report, "start_realtime_ns", NULL,
                    value_count(first->start_realtime_ns - first->start_ns));
}

static uint64_t duration_ns(const struct question *question)
{
    struct model *model = tally_model(question->tally);
    uint64_t first = UINT64_MAX, last = 0;

    for (size_t i = 0; i < model_process_count(model); i++) {
        const struct model_process *process = model_process_at(model, (uint16_t)i);

        first = process->start_ns < first ? process->start_ns : first;
        last = process->end_ns > last ? process->end_ns : last;
    }
    return last > first ? last - first : 0;
}

static const char *token_name(const struct question *question, struct report *report,
                              struct step_token token)
{
    switch (token.kind) {
    case TOKEN_SITE:
        return symbols_label(question->symbols, (uint32_t)token.id);
    case TOKEN_SIZE:
        return report_text(report, "blocks of %s", label_size(report_arena(report), token.id));
    case TOKEN_OPERATOR:
        return report_text(report, "operator %s",
                           model_text_at(question->model, (uint32_t)token.id));
    case TOKEN_MARK:
        return report_text(report, "mark %s", model_text_at(question->model, (uint32_t)token.id));
    case TOKEN_NONE:
        break;
    }
    return "";
}

/* The first process whose steps were found speaks for all. */
static const struct found_steps *first_found(const struct question *question)
{
    for (size_t i = 0; question->steps && i < question->steps->found_count; i++)
        if (question->steps->found[i].token.kind != TOKEN_NONE)
            return &question->steps->found[i];
    return NULL;
}

/* Where the steps come from, if not from the program's marks. */
static void add_steps_origin(const struct question *question, struct report *report)
{
    const struct found_steps *found = first_found(question);

    if (question->step_name && *question->step_name) {
        report_fact(
            report, "step_site", "Each step",
            value_text(report_text(report, "begins at %s, as asked for", question->step_name)));
    } else if (found && !found->confidence_percent) {
        report_fact(report, "step_site", "Each step",
                    value_text(report_text(report, "begins at %s: the optimizer's step",
                                           token_name(question, report, found->token))));
        report_note(report, 0,
                    "the program marked no steps, and the whole has no period: steps begin "
                    "where its optimizer steps (docs/steps.md)");
    } else if (found) {
        const char *name = token_name(question, report, found->token);

        report_fact(
            report, "step_site", "Each step",
            value_text(report_text(report, "begins at %s; found by its period, confidence %u %%",
                                   name, found->confidence_percent)));
        report_fact(report, "step_confidence_percent", NULL,
                    value_number(VALUE_PERCENT, found->confidence_percent));
        report_note(report, 0,
                    "the program marked no steps: they were found by their period (docs/steps.md)");
    }
}

/* 0 needs no line. */
static void add_end(const struct question *question, struct report *report)
{
    uint16_t number;
    const struct model_process *process = process_of_program(question, &number);

    if (!process)
        return;
    if (process->end_signal)
        report_fact(report, "end_signal", "Signal", value_count(process->end_signal));
    else if (process->exit_status)
        report_fact(report, "exit_status", "Exited with", value_count(process->exit_status));
}

void analyse_recording(const struct question *question, struct report *report)
{
    const struct tally_counts *counts = tally_counts_of(question->tally);
    uint64_t step_count = 0, passed_count = 0;

    add_program(question, report);
    for (size_t i = 0; i < model_process_count(question->model); i++) {
        struct tally_process process = tally_process_at(question->tally, (uint16_t)i);

        step_count += process.step_count;
        passed_count += process.passed_step_count;
    }
    report_fact(report, "source_kind", NULL, value_text(question->source_kind));
    report_fact(report, "recorded_ns", "Recorded",
                value_number(VALUE_DURATION_NS, duration_ns(question)));
    report_fact(report, "times_are_events", NULL,
                value_number(VALUE_FLAG, model_times_are_events(tally_model(question->tally))));
    add_end(question, report);
    report_fact(report, "event_count", "Events", value_count(counts->events));
    report_fact(report, "step_count", "Steps", value_count(step_count));
    if (passed_count)
        report_fact(report, "passed_step_count", "Steps paused", value_count(passed_count));
    add_steps_origin(question, report);
}

static uint64_t lost_of(const struct model_process *process)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < MT_LOST_KINDS; i++)
        sum += process->lost_counts[i];
    return sum;
}

static void add_process(const struct question *question, struct report *report,
                        struct report_table *table, uint16_t index)
{
    struct model *model = tally_model(question->tally);
    const struct model_process *process = model_process_at(model, index);
    struct tally_process sums = tally_process_at(question->tally, index);
    const struct field fields[] = {
        {"process_id", "pid", value_step(process->process_id)},
        {"parent_process_id", "parent", value_step(process->parent_process_id)},
        {"rank", "rank", process->rank < 0 ? value_none() : value_step((uint64_t)process->rank)},
        {"program", "program", value_text(path_base(model_text_at(model, process->executable)))},
        {"start_ns", "start", value_time(process->start_ns)},
        {"end_ns", "end", value_time(process->end_ns)},
        {"event_count", "events", value_count(process->event_count)},
        {"step_count", "steps", value_count(sums.step_count)},
        {"alive_count", "blocks at end", value_count(sums.live_count)},
        {"lost_count", "lost", value_count(lost_of(process))},
        {"is_complete", "complete", value_number(VALUE_FLAG, process->is_complete)},
        {"is_helper", NULL, value_number(VALUE_FLAG, process->is_helper)},
        {"source", "file", value_text(path_base(model_text_at(model, process->source)))},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

/* Those that were meant, then helpers, where all are shown. */
void analyse_processes(const struct question *question, struct report *report)
{
    struct report_table *table =
        report_table(report, "processes", "Processes", "No process was recorded.");
    struct model *model = tally_model(question->tally);
    size_t count = model_process_count(model), meant = process_count_meant(question);
    size_t most = question->top ? rows_shown(question, meant) : count, shown = 0;

    for (int helpers = 0; helpers < 2; helpers++)
        for (size_t i = 0; i < count && shown < most; i++)
            if (model_process_at(model, (uint16_t)i)->is_helper == helpers) {
                add_process(question, report, table, (uint16_t)i);
                shown++;
            }
    if (meant > most)
        report_table_remark(report, table, "... and %zu more processes.", meant - most);
    if (count > meant && count > most)
        report_table_remark(
            report, table, "... and %zu helpers: programs around it, such as shells and compilers.",
            count - meant);
}

void analyse_event_kinds(const struct question *question, struct report *report)
{
    struct report_table *table = report_table(report, "events", "Events by kind", "No events.");

    for (size_t i = 0; i < EVENT_KIND_COUNT; i++) {
        uint64_t count = tally_event_count(question->tally, (enum event_kind)i);
        const struct field fields[] = {
            {"event", "event", value_word(event_kind_name((uint8_t)i))},
            {"event_count", "count", value_count(count)},
        };

        if (count)
            report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
}

void analyse_recording_verdict(const struct question *question, struct report *report)
{
    struct arena *texts = report_arena(report);
    struct model *model = tally_model(question->tally);
    size_t count = model_process_count(model), incomplete = 0;
    uint64_t lost = model_lost_count(model);

    for (size_t i = 0; i < count; i++) {
        const struct model_process *process = model_process_at(model, (uint16_t)i);

        incomplete += !process->is_complete;
        lost += lost_of(process);
    }
    report_verdict(
        report, RANK_TOTALS, "%s: %s of %zu %s; %s%s.", question->source_kind,
        label_counted(texts, tally_counts_of(question->tally)->events, "event"), count,
        translated(count == 1 ? "process" : "processes"),
        incomplete ? report_text(report, "%zu ended without closing its trace", incomplete)
        : lost     ? translated("incomplete")
                   : translated("complete"),
        lost ? report_text(report, "; %s lost", label_counted(texts, lost, "event")) : "");
}
