/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a process ended, as far as anybody saw it.
 */
#ifndef LEAKTIDE_ANALYSES_PROCESS_END_H
#define LEAKTIDE_ANALYSES_PROCESS_END_H

#include <stdbool.h>

#include "analysis.h"

/* Its exit_status is one. */
bool process_exit_is_known(const struct model_process *process);
/* It ended by itself, with the exit status 0. */
bool process_ended_well(const struct model_process *process);
/* With another one, or by a signal. Neither is true where nobody saw the end. */
bool process_ended_badly(const struct model_process *process);
/* The program that was started, as what it became by exec last; NULL: there is none. */
const struct model_process *process_of_program(const struct question *question, uint16_t *process);
/* "exited with 1", "was ended by signal 9 (SIGKILL)". Of one that ended badly. */
const char *process_end_words(struct arena *arena, const struct model_process *process);

#endif
