/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be asked, and which analyses answer it, in the order of the report.
 */
#include "analyses.h"

#include <string.h>

#include "account_analyses.h"
#include "advice_analyses.h"
#include "leak_analyses.h"
#include "peak_analyses.h"
#include "picture_analyses.h"
#include "plain_analyses.h"
#include "pool_analyses.h"
#include "rank_analyses.h"
#include "recording_notes.h"
#include "waste_analyses.h"

/* One a line, so that two changes never meet. */
// clang-format off
static const struct analysis report_analyses[] = {
    {.write = analyse_recording},
    {.write = analyse_killed},
    {.write = analyse_oom_if_any},
    {.write = analyse_death},
    {.of_blocks = &shared_names_analysis},
    {.of_blocks = &leaks_analysis},
    {.write = analyse_window},
    {.write = analyse_peak},
    {.of_blocks = &near_peak_analysis},
    {.write = analyse_advice_in_short},
    {.write = analyse_resident_in_short},
    {.write = analyse_steps},
    {.write = analyse_totals},
    {.write = analyse_operators},
    {.write = analyse_categories},
    {.write = analyse_layers_if_known},
    {.write = analyse_known_ranks},
    {.write = analyse_process_account},
    {.write = analyse_device_account},
    {.write = analyse_components},
    {.write = analyse_modules},
    {.write = analyse_notes},
    {NULL, NULL},
};
/* On a page there is room for more, and for pictures. */
static const struct analysis report_page_analyses[] = {
    {.of_blocks = &peak_effect_analysis},
    {.of_blocks = &step_peaks_analysis},
    {.write = analyse_fragmentation_if_known},
    {.of_blocks = &picture_analysis},
    {NULL, NULL},
};
static const struct analysis page_analyses[] = {
    {.of_blocks = &picture_analysis},
    {NULL, NULL},
};
/* Analyses that add a sentence to the report's verdict. Only leaks may need a second reading. */
static const struct analysis verdict_analyses[] = {
    {.write = analyse_recording},
    {.write = analyse_killed},
    {.write = analyse_oom_in_short},
    {.write = analyse_death},
    {.of_blocks = &shared_names_analysis},
    {.of_blocks = &leaks_analysis},
    {.write = analyse_window},
    {.write = analyse_peak},
    {.write = analyse_resident_in_short},
    {.write = analyse_steps},
    {.write = analyse_operators},
    {.write = analyse_categories},
    {.write = analyse_process_account},
    {.write = analyse_device_account},
    {.write = analyse_modules},
    {NULL, NULL},
};
static const struct analysis leaks_analyses[] = {
    {.write = analyse_recording},
    {.write = analyse_killed},
    {.write = analyse_oom_in_short},
    {.write = analyse_death},
    {.of_blocks = &shared_names_analysis},
    {.of_blocks = &leaks_analysis},
    {.write = analyse_leftovers},
    {.write = analyse_window},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis peak_analyses[] = {
    {.write = analyse_recording},
    {.write = analyse_peak},
    {.of_blocks = &peak_effect_analysis},
    {.of_blocks = &step_peaks_analysis},
    {.of_blocks = &near_peak_analysis},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis fragmentation_analyses[] = {
    {.write = analyse_fragmentation},
    {.write = analyse_recording},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis inefficient_analyses[] = {
    {.write = analyse_inefficient},
    {.write = analyse_recording},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis advice_analyses[] = {
    {.write = analyse_advice},
    {.write = analyse_recording},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis oom_analyses[] = {
    {.write = analyse_killed},
    {.write = analyse_oom},
    {.write = analyse_death},
    {.write = analyse_recording},
    {.write = analyse_failures},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis blocks_analyses[] = {
    {.write = analyse_recording},
    {.of_blocks = &blocks_analysis},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis steps_analyses[] = {
    {.write = analyse_steps_verdict},
    {.write = analyse_recording},
    {.write = analyse_steps},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis operators_analyses[] = {
    {.write = analyse_operators_verdict},
    {.write = analyse_recording},
    {.write = analyse_operators},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis layers_analyses[] = {
    {.write = analyse_layers},
    {.write = analyse_recording},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis modules_analyses[] = {
    {.write = analyse_modules_verdict},
    {.write = analyse_recording},
    {.write = analyse_process_account},
    {.write = analyse_components},
    {.write = analyse_modules},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis breakdown_analyses[] = {
    {.write = analyse_recording},
    {.write = analyse_categories},
    {.write = analyse_owner_tree},
    {.write = analyse_resident_in_short},
    {.write = analyse_process_account},
    {.write = analyse_device_account},
    {.of_blocks = &others_on_device_analysis},
    {.write = analyse_components},
    {.write = analyse_modules},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis account_analyses[] = {
    {.of_blocks = &shared_names_analysis},
    {.write = analyse_resident},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis ranks_analyses[] = {
    {.write = analyse_recording},
    {.of_blocks = &ranks_analysis},
    {.of_blocks = &others_on_device_analysis},
    {.write = analyse_processes},
    {.write = analyse_notes},
    {NULL, NULL},
};
static const struct analysis info_analyses[] = {
    {.write = analyse_recording_verdict},
    {.write = analyse_recording},
    {.write = analyse_processes},
    {.write = analyse_event_kinds},
    {.write = analyse_totals},
    {.write = analyse_notes},
    {NULL, NULL},
};

static const struct analysis stacks_analyses[] = {
    {.write = analyse_recording},
    {.write = analyse_stacks},
    {.write = analyse_notes},
    {NULL, NULL},
};
// clang-format on

const struct answer_kind answer_kinds[] = {
    {"report", "everything, verdict first", 10, report_analyses},
    {"verdict", "the sentences of the report alone, soonest", 10, verdict_analyses},
    {"leaks", "what grows from step to step", 20, leaks_analyses},
    {"peak", "what made the highest point, and who held the memory there", 20, peak_analyses},
    {"frag", "what pools hold and nobody uses, and who keeps it", 20, fragmentation_analyses},
    {"inefficient", "memory that is there and not used", 20, inefficient_analyses},
    {"advice", "what to do, and what it would save", 20, advice_analyses},
    {"oom", "the request that failed, and who held the memory", 20, oom_analyses},
    {"blocks", "the blocks themselves, by name, size and time", 50, blocks_analyses},
    {"stacks", "through which calls memory was asked for", 100, stacks_analyses},
    {"steps", "what is alive when each step ends, and what is new", 50, steps_analyses},
    {"ops", "memory by operator", 30, operators_analyses},
    {"layers", "memory by module of the model: torch.nn.Module", 30, layers_analyses},
    {"modules", "memory by module of the driver, and the driver's own counters", 30,
     modules_analyses},
    {"breakdown", "who holds the memory and what for, to the device's total", 30,
     breakdown_analyses},
    {"account", "where the resident memory of a process is", 12, account_analyses},
    {"ranks", "which rank differs from the others, and in what", 30, ranks_analyses},
    {"info", "what is in a recording, and how complete it is", 30, info_analyses},
    {NULL, NULL, 0, NULL},
};

const struct answer_kind *answer_kind_find(const char *name)
{
    for (const struct answer_kind *kind = answer_kinds; kind->name; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

const struct analysis *answer_page_analyses(const struct answer_kind *kind)
{
    return kind->analyses == report_analyses ? report_page_analyses : page_analyses;
}

bool answer_is_of_totals(const struct answer_kind *kind)
{
    return kind->analyses == info_analyses;
}

bool answer_is_of_frames(const struct answer_kind *kind)
{
    return kind->analyses == stacks_analyses;
}

static bool sees_blocks(const struct analysis *analyses)
{
    while (analyses->write)
        analyses++;
    return analyses->of_blocks != NULL;
}

bool answer_sees_blocks_early(const struct answer_kind *kind)
{
    return sees_blocks(kind->analyses) && analyses_are_early(kind->analyses);
}
