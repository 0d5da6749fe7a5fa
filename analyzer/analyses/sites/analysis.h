/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question to a recording, and how it is answered: into a report.
 *
 * An analysis reads the tally and adds verdicts, findings and tables. It never looks at another
 * analysis. A new one is a file, a line here and a line in a list of analyses.c.
 *
 * One that has to see the blocks themselves needs the recording read again. All such analyses of a
 * question share one reading: each says first what it wants to see, then the recording is read,
 * then all write into the report, in the order of the list.
 */
#ifndef LEAKTIDE_ANALYSIS_H
#define LEAKTIDE_ANALYSIS_H

#include <stddef.h>
#include <stdint.h>

#include "event_source.h"
#include "leaktide/error.h"
#include "lives.h"
#include "report.h"
#include "step_source.h"
#include "symbols.h"
#include "tally.h"

enum { WARM_UP_DEFAULT = -1, NEAR_PEAK_PERCENT = 5 };

/* Which blocks are listed: those for which all of it is true. */
struct block_filter {
    const char *name; /* part of the name of the site, operator or owner; NULL: any */
    uint64_t least_bytes, most_bytes;
    /* Alive at some time in [from, to]; since the start of the run, or since 1970. */
    uint64_t from_ns, to_ns;
};

struct question {
    const struct tally *tally;
    const struct model *model;
    struct symbols *symbols;
    const struct event_source *events; /* for a second reading: lives.h */
    const char *source_kind;           /* "leaktide run" */
    size_t top;                        /* rows of a list; 0: all */
    const struct step_rule *steps;     /* where they come from; NULL: marks */
    const char *step_name;             /* asked for; NULL: none */
    bool has_chosen_steps;             /* some were left out on request */
    int warm_up_steps;                 /* not judged; WARM_UP_DEFAULT: chosen */
    unsigned margin_percent;           /* near a peak: at most so much below it */
    struct block_filter blocks;
    unsigned stack_depth;           /* calls from the start, or from who asked; 0: all */
    unsigned least_percent;         /* branches that are smaller are left out */
    const char *allocator_settings; /* tried beside the usual ones; NULL: none */
    bool is_for_pictures;           /* read once more for what a picture needs */
    const char *picture_name;       /* before the names of its datasets; NULL: none */
};

/* One that sees every block. */
struct block_analysis {
    const char *name; /* before what is said when it fails: "near the peak" */
    /* Returns a state of its own, NULL when there is no memory; a visitor that is left as it is
     * sees nothing. Nothing is written yet. */
    void *(*begin)(const struct question *question, struct life_visitor *visitor);
    /* Behind the last block; not when the reading failed. */
    void (*write)(void *state, struct report *report);
    void (*release)(void *state);
};

/* Either of the two. */
struct analysis {
    void (*write)(const struct question *question, struct report *report);
    const struct block_analysis *of_blocks;
};

/* Runs a list, and then another, with one reading for both. further: NULL: none. */
void analyses_run(const struct analysis *analyses, const struct analysis *further,
                  const struct question *question, struct report *report);

void analyse_recording(const struct question *question, struct report *report);
void analyse_recording_verdict(const struct question *question, struct report *report);
void analyse_event_kinds(const struct question *question, struct report *report);
void analyse_categories(const struct question *question, struct report *report);
void analyse_owner_tree(const struct question *question, struct report *report);
void analyse_device_account(const struct question *question, struct report *report);
void analyse_ranks(const struct question *question, struct report *report);
void analyse_known_ranks(const struct question *question, struct report *report);
void analyse_ranks_verdict(const struct question *question, struct report *report);
void analyse_notes(const struct question *question, struct report *report);
void analyse_leaks(const struct question *question, struct report *report);
void analyse_leftovers(const struct question *question, struct report *report);
void analyse_stacks(const struct question *question, struct report *report);
void analyse_window(const struct question *question, struct report *report);
void analyse_peak(const struct question *question, struct report *report);
void analyse_inefficient(const struct question *question, struct report *report);
void analyse_advice(const struct question *question, struct report *report);
void analyse_advice_in_short(const struct question *question, struct report *report);
void analyse_oom(const struct question *question, struct report *report);
void analyse_failures(const struct question *question, struct report *report);
void analyse_fragmentation(const struct question *question, struct report *report);
void analyse_fragmentation_if_known(const struct question *question, struct report *report);
void analyse_steps(const struct question *question, struct report *report);
void analyse_steps_verdict(const struct question *question, struct report *report);
void analyse_totals(const struct question *question, struct report *report);
void analyse_process_account(const struct question *question, struct report *report);
void analyse_components(const struct question *question, struct report *report);
void analyse_modules(const struct question *question, struct report *report);
void analyse_modules_verdict(const struct question *question, struct report *report);
void analyse_operators(const struct question *question, struct report *report);
void analyse_operators_verdict(const struct question *question, struct report *report);
void analyse_processes(const struct question *question, struct report *report);

extern const struct block_analysis near_peak_analysis;
extern const struct block_analysis peak_effect_analysis;
extern const struct block_analysis step_peaks_analysis;
extern const struct block_analysis blocks_analysis;
extern const struct block_analysis others_on_device_analysis;
extern const struct block_analysis picture_analysis;

/* What can be asked: each a list of analyses, ended by an empty one. */
struct answer_kind {
    const char *name; /* "leaks" */
    const char *meaning;
    size_t top; /* rows of a list on a terminal, if not asked otherwise */
    const struct analysis *analyses;
};

extern const struct answer_kind answer_kinds[]; /* ends with a NULL name */

const struct answer_kind *answer_kind_find(const char *name);
/* What else is asked when the answer is drawn; a list as the other. */
const struct analysis *answer_page_analyses(const struct answer_kind *kind);

/* Order of the verdicts' sentences. */
enum verdict_rank {
    RANK_LEAKS,
    RANK_PEAK,
    RANK_FRAGMENTATION,
    RANK_STEPS,
    RANK_OPERATORS,
    RANK_MODULES,
    RANK_TOTALS
};

#endif
