/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups joined by where their blocks come from: (ledger, site), else operator, else owner. Sites
 * that are one to people, by symbols_site_key(), are one origin.
 */
#ifndef LEAKTIDE_ANALYSES_ORIGINS_H
#define LEAKTIDE_ANALYSES_ORIGINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "labels.h"

struct origin {
    const uint32_t *groups; /* never none */
    size_t group_count;
    uint16_t ledger;
    struct who who; /* of its first group; operator and owner are its own only when split by them */
};

struct origins {
    uint32_t *groups;
    struct origin *rows; /* by ledger */
    size_t count;
};

enum origin_split {
    ORIGINS_BY_SITE,
    ORIGINS_BY_OPERATOR, /* another operator is another origin, even at one site */
    ORIGINS_BY_SIZE      /* what nobody is known for is distinguished by the size of its blocks */
};

/* False without memory. */
bool origins_init(struct origins *origins, const struct question *question,
                  enum origin_split split);
/* The same of some groups: where they are few, the others are not named. */
typedef bool origin_filter(const struct tally *tally, uint32_t group);
bool origins_init_of(struct origins *origins, const struct question *question,
                     enum origin_split split, origin_filter *is_wanted);
/* Of these something was alive when their ledger was highest; when some step ended. */
origin_filter group_is_in_peak, group_is_in_steps;
void origins_release(struct origins *origins);

/* A site by the id of its stack; what has none, by the name of its operator or owner. */
uint64_t origin_id(const struct question *question, const struct who *who);

/* Who it is; of whom nobody knows and whose blocks are older than the recording, that. */
struct value value_origin(const struct question *question, struct arena *arena,
                          const struct origin *origin);

/* Sums over the groups of an origin. */
struct step_sample origin_alive(const struct tally *tally, const struct origin *origin);
struct step_sample origin_at_peak(const struct tally *tally, const struct origin *origin);
struct step_sample origin_at_step(const struct tally *tally, const struct origin *origin,
                                  uint32_t step);
/*
 * The same at the steps 1, 1 + stride, 1 + 2 * stride ...: alive has `count` rows, which this
 * fills. stride: not 0.
 */
void origin_at_steps(const struct tally *tally, const struct origin *origin, uint32_t stride,
                     struct step_sample *alive, size_t count);

#endif
