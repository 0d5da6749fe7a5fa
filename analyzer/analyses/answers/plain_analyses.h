/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions that the sums of a recording answer.
 */
#ifndef LEAKTIDE_ANALYSES_PLAIN_ANALYSES_H
#define LEAKTIDE_ANALYSES_PLAIN_ANALYSES_H

#include "analysis.h"

void analyse_recording(const struct question *question, struct report *report);
void analyse_recording_verdict(const struct question *question, struct report *report);
void analyse_event_kinds(const struct question *question, struct report *report);
void analyse_stacks(const struct question *question, struct report *report);
void analyse_failures(const struct question *question, struct report *report);
void analyse_steps(const struct question *question, struct report *report);
void analyse_steps_verdict(const struct question *question, struct report *report);
void analyse_totals(const struct question *question, struct report *report);
void analyse_operators(const struct question *question, struct report *report);
void analyse_operators_verdict(const struct question *question, struct report *report);
void analyse_processes(const struct question *question, struct report *report);

extern const struct block_analysis blocks_analysis;

#endif
