/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording lacks, for the notes of a report: events lost, processes that ended without a
 * word, frees of nothing.
 */
#ifndef LEAKTIDE_ANALYSES_RECORDING_NOTES_H
#define LEAKTIDE_ANALYSES_RECORDING_NOTES_H

#include "analysis.h"

void analyse_notes(const struct question *question, struct report *report);

/* With the name of the recording before each. */
void analyse_notes_of(const struct question *question, const char *name, struct report *report);

#endif
