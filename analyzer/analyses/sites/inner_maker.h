/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of a place: a line of a program that calls a package of Python is one site for all that
 * the package does. Where the package divides it, the function that most of it came from is named,
 * too.
 */
#ifndef LEAKTIDE_ANALYSES_INNER_MAKER_H
#define LEAKTIDE_ANALYSES_INNER_MAKER_H

#include "origins.h"

/* Bytes and blocks of an origin that count: origin_at_peak, origin_alive. */
typedef struct step_sample origin_sum(const struct tally *tally, const struct origin *origin);

/* ", 20.3 GiB of it by _allocate_kv_cache (worker/cache_engine.py:76)": the innermost function in
 * which more than half of the origin's bytes were made, where not all of them were. Else "". In the
 * arena. */
const char *inner_maker_words(const struct question *question, struct arena *arena,
                              const struct origin *origin, origin_sum *sum);

/* Its who, with the site whose blocks count most: the stack to show. */
struct who origin_main_who(const struct question *question, const struct origin *origin,
                           origin_sum *sum);

#endif
