/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which steps of a recording are wanted: by number, or by a schedule as profilers have it.
 */
#ifndef LEAKTIDE_MODEL_STEP_CHOICE_H
#define LEAKTIDE_MODEL_STEP_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leaktide/analyzer.h"

struct step_span {
    uint64_t first, last; /* numbers, as the program counts; both taken */
};

struct step_choice {
    struct step_span *spans; /* NULL: the schedule, or all */
    size_t span_count;
    /* skip_first, then repeat times (0: for ever): wait + warmup left out, active taken; active 0:
     * all */
    struct mt_step_schedule schedule;
};

/*
 * text  "3-7,9"; NULL: none
 *
 * Release in either case. MT_USAGE names what is wrong; MT_NO_MEMORY.
 */
enum mt_result step_choice_init(struct step_choice *choice, const char *text,
                                const struct mt_step_schedule *schedule, struct mt_error *error);
void step_choice_release(struct step_choice *choice);

/* False: all steps are wanted. */
bool step_choice_is_made(const struct step_choice *choice);
/* index: how many steps of the process began before. */
bool step_choice_wants(const struct step_choice *choice, uint64_t index, uint64_t number);
/* No step from here on is wanted. */
bool step_choice_is_over(const struct step_choice *choice, uint64_t index, uint64_t number);

#endif
