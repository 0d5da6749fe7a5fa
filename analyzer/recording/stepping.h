/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a recording that are looked at: its marks, or others, or some of them.
 *
 * Between the first reading, which says what there is, and a second one with the steps put in.
 */
#ifndef LEAKTIDE_STEPPING_H
#define LEAKTIDE_STEPPING_H

#include <stdbool.h>

#include "error_sentence.h"
#include "event_source.h"
#include "step_choice.h"
#include "step_finder.h"
#include "step_source.h"
#include "symbols.h"
#include "tally.h"

struct stepping {
    struct step_finder *finder; /* fed in the first reading; NULL: nothing is to be found */
    char *site_name;            /* what begins a step; NULL: marks, or what is found */
    struct step_choice choice;
    struct step_rule rule;
    struct found_steps *found, *entries;
    bool *sites, *texts;
    struct event_source marked; /* what there was before */
    struct step_source *source;
};

/* MT_USAGE names what is wrong. Release in either case. */
enum mt_result stepping_init(struct stepping *stepping, struct model *model, const char *steps,
                             const struct mt_step_schedule *schedule, const char *site_name,
                             struct mt_error *error);
void stepping_release(struct stepping *stepping);

/*
 * After the first reading. *events becomes the source of the second one, or stays as it is when
 * the marks are good as they are. MT_USAGE when nothing bears the name that was asked for.
 */
enum mt_result stepping_begin(struct stepping *stepping, struct model *model,
                              struct symbols *symbols, struct event_source *events,
                              bool *is_changed, struct mt_error *error);

/*
 * After the second reading: forgets found steps that cannot be steps. False when there are no
 * others, so that the first reading is what counts.
 */
bool stepping_confirm(struct stepping *stepping, const struct tally *tally);
/* After stepping_confirm() said false: the source of the first reading. */
struct event_source stepping_marked_events(const struct stepping *stepping);

#endif
