/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One leak in one sentence: the same one in a report, in a gate and in what they write for others.
 */
#ifndef LEAKTIDE_ANALYSES_LEAK_WORDS_H
#define LEAKTIDE_ANALYSES_LEAK_WORDS_H

#include "verdict.h"

/* "192 KiB per step at train: 2.06 MiB since step 3, 12 of 12 steps left blocks behind (pta device
 * 0)"; of a loop without marks "4.6 KiB per turn at train: 2.06 MiB in 450 blocks stay, ...". */
const char *leak_sentence(const struct question *question, struct arena *arena,
                          const struct leak *leak);
/* "train: 2.06 MiB since step 3, ...": of what is no leak, and has no rate. */
const char *growth_sentence(const struct question *question, struct arena *arena,
                            const struct judged *row);
/* "58 of 58 steps": how many left survivors. */
const char *leak_births(struct arena *arena, const struct judged *row);
/* As leak_sentence(), of what is not certain to be a leak. */
const char *survivor_sentence(const struct question *question, struct arena *arena,
                              const struct survivor_process *process,
                              const struct survivor_origin *origin, const char *name);
/* The label of who; "sites without a name" where it has none. */
const char *leak_who(const struct question *question, struct arena *arena, struct who who);

/* Of one line of which all blocks stay: where to look. */
#define LEAK_HOLDER_SENTENCE                                                                       \
    "MAY BE ONE CAUSE: all blocks of %s stay as well, as long and as often, while others of the "  \
    "first line are freed: look there for what keeps both."

#endif
