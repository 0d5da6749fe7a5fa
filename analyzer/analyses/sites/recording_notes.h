/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording lacks, for the notes of a report: events lost, processes that ended without a
 * word, frees of nothing.
 */
#ifndef LEAKTIDE_ANALYSES_RECORDING_NOTES_H
#define LEAKTIDE_ANALYSES_RECORDING_NOTES_H

#include "analysis.h"

void analyse_notes(const struct question *question, struct report *report);

#endif
