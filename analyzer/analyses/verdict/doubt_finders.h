/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each row of doubts.def asks the evidence: one function a row, doubt_find_<find>().
 */
#ifndef LEAKTIDE_ANALYSES_DOUBT_FINDERS_H
#define LEAKTIDE_ANALYSES_DOUBT_FINDERS_H

#include "doubt.h"

/* Whether there is such a doubt; fills in what its sentence names. */
typedef bool doubt_finder(const struct doubt_ground *ground, struct doubt *doubt);

#define DOUBT(kind, word, weight, find, sentence, reason) doubt_finder doubt_find_##find;
#include "doubts.def"
#undef DOUBT

#endif
