/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job used when its team last agreed to it: a text file, one line a key, sorted, so that a
 * review shows what changed.
 *
 *     # leaktide baseline 1
 *     npu:0/pta/peak_live = 29204328448  # n=3 min=29204328448 max=29205114880
 *     npu:0/pta/site/1f2e3d4c5b6a7988 = 536870912  # n=3 min=... max=... forward (model.py)
 *
 *     npu:0/pta/site/rest = 1048576  # n=3 min=... max=... all that hold less than 1 %
 *
 * Values are bytes, or hundredths of a percent for shares: the median of n recordings. What is
 * after # is for people, but n, min and max, which tell the noise.
 */
#ifndef LEAKTIDE_GATE_BASELINE_H
#define LEAKTIDE_GATE_BASELINE_H

#include <stdio.h>

#include "measures.h"

enum {
    BASELINE_SITES = 50,      /* of one pool: the largest at the peak ... */
    BASELINE_LEAST_PART = 100 /* ... that hold at least a hundredth of it: 1 % */
};

struct baseline_row {
    const char *key;
    uint64_t value;
    struct measure_spread spread; /* count 0: not known */
    const char *name;             /* of a site, for people; may be "" */
    unsigned line;
};

struct baseline_file {
    struct arena arena;
    struct table rows; /* by key, as strcmp has it */
    const char *path;
    bool is_whole; /* it has each site, however small */
};

/* MT_NOT_FOUND, MT_IO; MT_USAGE with file and line; MT_NO_MEMORY. */
enum mt_result baseline_open(const char *path, struct baseline_file **out, struct mt_error *error);
/* Of runs that were measured as repeats: the median of each, and how far apart they are. path: what
 * sentences call it. */
enum mt_result baseline_of_measures(const struct measures *measures, const char *path,
                                    struct baseline_file **out, struct mt_error *error);
void baseline_close(struct baseline_file *baseline);
/* Asserts what must be true of every baseline. */
void baseline_check(const struct baseline_file *baseline);
/* NULL when it has no such key. */
const struct baseline_row *baseline_find(const struct baseline_file *baseline, const char *key);
/* A site that the baseline does not have held less than this: too little for a line in it. */
uint64_t baseline_site_floor(const struct baseline_file *baseline, const struct measure *site);
/* And at most this, where the baseline tells what all such sites held. 0: it was not there. */
uint64_t baseline_site_most(const struct baseline_file *baseline, const struct measure *site);

/* False when it cannot be written or there is no memory; errno tells. */
bool baseline_write(const struct measures *measures, FILE *file);

#endif
