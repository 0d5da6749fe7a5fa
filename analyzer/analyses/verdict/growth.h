/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every origin of every process that has steps, judged by what it keeps from step to step.
 *
 * step_verdict.h says how one is judged; this finds the steps and the numbers for it. A process
 * with more steps than TREND_MAX is looked at in stretches of equal length.
 */
#ifndef LEAKTIDE_ANALYSES_GROWTH_H
#define LEAKTIDE_ANALYSES_GROWTH_H

#include "analysis.h"
#include "arena.h"
#include "origins.h"
#include "step_verdict.h"
#include "survivors.h"

/* Steps warm_up + 1 .. last of one process, in `count` stretches of `stride`. */
struct judged_steps {
    uint16_t process;
    uint32_t warm_up, last; /* last 0: the process has no steps */
    uint32_t stride;
    size_t count;
};

struct judged {
    const struct origin *origin;
    const char *name; /* of it, unique in its ledger among all that is judged: leak_list.h */
    uint64_t key;     /* origin_id() */
    struct step_judgement judgement;
    struct step_sample alive;     /* when the last step ended */
    uint64_t stay_bytes_per_step; /* of survivors, where steps alone cannot tell; else 0 */
    uint64_t weight_bytes;        /* that stay, or grew; where it leaks */
    uint64_t grown_bytes;         /* since the first judged step ended; 0 when it shrank */
    uint64_t survivor_bytes;      /* of them, born in any step */
    uint64_t survivor_count;
    struct judged_steps steps;
    uint32_t failed_step;   /* it leaked until its own requests failed, in this step; 0: not so */
    uint32_t birth_stretch; /* births are distinguished by stretches of so many steps */
    uint32_t first_step;    /* since when it grows: index of the first judged step with survivors */
    const uint64_t *alive_bytes; /* at the ends of the judged stretches */
};

/* How many stretches of how many steps were judged, and how many of them left survivors. Over many
 * steps births are distinguished less finely than what is alive. */
struct births_seen {
    size_t stretch_count, with_survivors;
    uint32_t stretch; /* steps */
};
struct births_seen growth_births(const struct judged *row);

/* Origins that are worth a row: every verdict before VERDICT_TEMPORARY. */
struct judged_list {
    struct judged *rows; /* leaks first, then by growth */
    size_t count;
    size_t origin_count;          /* looked at */
    size_t *origins_of_processes; /* of them, by process */
    size_t verdict_counts[VERDICT_COUNT];
    struct origin *ledgers;  /* of growth_judge_ledgers() */
    uint32_t *ledger_groups; /* of these */
    struct arena arena;
};

struct judged_steps growth_steps_of(const struct question *question, uint16_t process);
/* By the program, or by who asks: not only found by their period. */
bool growth_steps_are_marked(const struct question *question);
/* Steps of the process that were marked, and ended; 0: none, or its steps were only found. */
uint32_t growth_marked_steps_of(const struct question *question, uint16_t process);
/* So many must be judged: what a program does in a few steps that were only found may be its
 * beginning. */
uint32_t growth_steps_needed(const struct question *question);
/* They are marked and enough, or chosen. Else survivors.h decides wherever it can judge. */
bool growth_steps_decide(const struct question *question);
/* Steps are not marked, or the process's own heap was recorded: worth one reading more. */
bool growth_needs_survivors(const struct question *question);
/* Of the process that has most judged steps. */
struct judged_steps growth_longest_steps(const struct question *question);

bool growth_has_device_memory(const struct question *question);
/* Whether a process with steps made a block of its own: otherwise there is nothing to judge. */
bool growth_has_blocks(const struct question *question);

/*
 * survivors: what overdue.h says decides for the process's own heap wherever it can judge; steps
 * add when and how fast. NULL: steps decide alone. False without memory. Release in either case;
 * the origins must outlive the list.
 */
bool growth_judge(const struct question *question, const struct origins *origins,
                  const struct survivors *survivors, struct judged_list *list);
/* The same for ledgers as a whole: `who` of their origins is nobody. */
bool growth_judge_ledgers(const struct question *question, struct judged_list *list);
void growth_release(struct judged_list *list);

#endif
