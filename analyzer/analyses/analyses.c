/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be asked, and which analyses answer it, in the order of the report.
 */
#include <string.h>

#include "analysis.h"

/* One a line, so that two changes never meet. */
// clang-format off
static const analysis report_analyses[] = {
    analyse_recording,
    analyse_leaks,
    analyse_window,
    analyse_peak,
    analyse_near_peak,
    analyse_steps,
    analyse_totals,
    analyse_operators,
    analyse_categories,
    analyse_known_ranks,
    analyse_process_account,
    analyse_device_account,
    analyse_components,
    analyse_modules,
    analyse_notes,
    NULL,
};
// clang-format on
/* On a page there is room for more, and for pictures. */
static const analysis report_page_analyses[] = {
    analyse_peak_effect, analyse_step_peaks, analyse_fragmentation_if_known, analyse_picture, NULL,
};
static const analysis page_analyses[] = {analyse_picture, NULL};
static const analysis leaks_analyses[] = {
    analyse_recording, analyse_leaks, analyse_leftovers, analyse_window, analyse_notes, NULL,
};
static const analysis peak_analyses[] = {
    analyse_recording, analyse_peak, analyse_peak_effect, analyse_step_peaks, analyse_near_peak,
    analyse_notes,     NULL,
};
static const analysis fragmentation_analyses[] = {
    analyse_fragmentation,
    analyse_recording,
    analyse_notes,
    NULL,
};
static const analysis inefficient_analyses[] = {
    analyse_inefficient,
    analyse_recording,
    analyse_notes,
    NULL,
};
static const analysis oom_analyses[] = {
    analyse_oom, analyse_recording, analyse_failures, analyse_notes, NULL,
};
static const analysis blocks_analyses[] = {analyse_recording, analyse_blocks, analyse_notes, NULL};
static const analysis steps_analyses[] = {
    analyse_steps_verdict, analyse_recording, analyse_steps, analyse_notes, NULL,
};
static const analysis operators_analyses[] = {
    analyse_operators_verdict, analyse_recording, analyse_operators, analyse_notes, NULL,
};
static const analysis modules_analyses[] = {
    analyse_modules_verdict,
    analyse_recording,
    analyse_process_account,
    analyse_components,
    analyse_modules,
    analyse_notes,
    NULL,
};
static const analysis breakdown_analyses[] = {
    analyse_recording,       analyse_categories,     analyse_owner_tree,
    analyse_process_account, analyse_device_account, analyse_components,
    analyse_modules,         analyse_notes,          NULL,
};
static const analysis ranks_analyses[] = {
    analyse_ranks_verdict, analyse_recording, analyse_ranks, analyse_processes, analyse_notes, NULL,
};
static const analysis info_analyses[] = {
    analyse_recording_verdict,
    analyse_recording,
    analyse_processes,
    analyse_event_kinds,
    analyse_totals,
    analyse_notes,
    NULL,
};

static const analysis stacks_analyses[] = {analyse_recording, analyse_stacks, analyse_notes, NULL};

const struct answer_kind answer_kinds[] = {
    {"report", "everything, verdict first", 10, report_analyses},
    {"leaks", "what grows from step to step", 20, leaks_analyses},
    {"peak", "what made the highest point, and who held the memory there", 20, peak_analyses},
    {"frag", "what pools hold and nobody uses, and who keeps it from being given back", 20,
     fragmentation_analyses},
    {"inefficient", "memory that is there and not used", 20, inefficient_analyses},
    {"oom", "the request that failed, who held the memory, and what was free", 20, oom_analyses},
    {"blocks", "the blocks themselves, by name, size and time", 50, blocks_analyses},
    {"stacks", "through which calls memory was asked for, at the peak and at the end", 100,
     stacks_analyses},
    {"steps", "what is alive when each step ends, and what is new", 50, steps_analyses},
    {"ops", "memory by operator", 30, operators_analyses},
    {"modules", "memory by module of the driver, and the driver's own counters", 30,
     modules_analyses},
    {"breakdown", "who holds the memory and what for, to the device's total", 30,
     breakdown_analyses},
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

const analysis *answer_page_analyses(const struct answer_kind *kind)
{
    return kind->analyses == report_analyses ? report_page_analyses : page_analyses;
}
