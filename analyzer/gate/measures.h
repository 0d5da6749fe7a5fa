/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a recording that a policy can limit, each under a key that is the same for every
 * recording of the same job: no process ids, no addresses, no line numbers.
 *
 *     npu:0/pta/peak_live              bytes at the highest point, as the pool counts them
 *     npu:0/pta/peak_seen              of it, what was seen being made; where the pool counts more
 *     npu:0/pta/peak_reserved          bytes that the pool held from below, at most
 *     npu:0/pta/frag                   reserved but not used, of what was reserved
 *     npu:0/pta/site/1f2e3d4c5b6a7988  bytes of one site at the peak
 *     npu:0/pta/owner/CANN@HCCL        bytes of one owner at the peak
 *     npu:0/pta/phase/backward         highest point while the phase was open
 *     npu:0/unattributed               used on the device, but in no pool that was recorded
 *     process/resident                 bytes that a process had resident, at most
 *     process/shared_memory            of it shared memory
 *     process/kept_by_malloc           of it kept free by malloc
 *     ranks/pta/imbalance              highest peak of a rank, over the median
 *
 * Where several processes have the same key, it is the largest of them. Several recordings of the
 * same job are repeats: a measure keeps the value of each.
 */
#ifndef LEAKTIDE_GATE_MEASURES_H
#define LEAKTIDE_GATE_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "arena.h"
#include "hash_index.h"
#include "labels.h"
#include "ledger_figures.h"
#include "place.h"
#include "policy.h"
#include "summary.h"
#include "table.h"

struct measure {
    const char *key;
    const char *device, *pool; /* "npu:0", "pta" */
    const char *name;          /* of a site its label, of an owner or a phase its name; else "" */
    enum rule_kind kind;
    struct place_in_code where; /* of a site */
    uint64_t *values;           /* by repeat */
    bool *is_known;
    /* While measuring. */
    uint64_t sum, largest; /* of the parts, the one that name and where are of */
    uint32_t sum_turn;
};

struct measures {
    struct arena arena; /* remembers if there was no memory, for a text or a row */
    struct table rows;  /* struct measure */
    struct hash_index index;
    size_t repeat_count;
};

/* repeat_count recordings will be measured, one after the other. */
void measures_init(struct measures *measures, size_t repeat_count);
void measures_release(struct measures *measures);
void measures_add(struct measures *measures, const struct question *question, size_t repeat);
/* Of all ranks of a summary: pools, sites at the peak, and how uneven ranks are. */
void measures_add_summary(struct measures *measures, const struct summary *summary, size_t repeat);

/* The numbers of a pool as a whole: its peak, what of it was seen being made, reserved, unused. */
void measures_put_pool(struct measures *measures, const char *device, const char *pool,
                       const struct ledger_figures *figures, size_t repeat, uint32_t turn);

/* -1: the row has none. */
int32_t summary_device(const struct summary *summary, enum summary_column column, size_t row);
/* Columns of a summary that this and its leaks need; ends with SUMMARY_COLUMN_COUNT. */
extern const enum summary_column gate_columns[];

/* For the two: the largest value counts; those of one turn, as of a ledger, add up. */
void measures_begin(struct measures *measures);
void measures_put(struct measures *measures, const struct measure *like, size_t repeat,
                  uint32_t turn, uint64_t value);
/* Of a label as "forward (model.py:88)": function, file and line. In the arena. */
struct place_in_code place_of_label(struct arena *arena, const char *label);
/* Reorders. count > 0. */
uint64_t median_of(uint64_t *numbers, size_t count);

/* Asserts that each is found by its key, and known of some repeat. */
void measures_check(const struct measures *measures);

size_t measures_count(const struct measures *measures);
const struct measure *measures_at(const struct measures *measures, size_t index);
const struct measure *measures_find(const struct measures *measures, const char *key);
/* The number of this kind of the pool that another measure is of; NULL: it is not known. */
const struct measure *measures_of_pool(const struct measures *measures, const struct measure *like,
                                       enum rule_kind kind);

/* Over the repeats that know it; there is always one. */
struct measure_spread {
    uint64_t low, median, high;
    size_t count;
};

struct measure_spread measure_spread(const struct measures *measures,
                                     const struct measure *measure);
/* Twice of this is the tightest relative limit that is not noise: hundredths of a percent. */
int64_t spread_share(struct measure_spread spread);

/* "npu:0", "gpu:1", "opencl:0", "host": who the memory of a ledger belongs to. In the arena. */
const char *device_name(struct arena *arena, const struct model *model,
                        const struct ledger *ledger);
/* The same of a pool's family and name; device -1: none. */
const char *device_key(struct arena *arena, enum device_family family, const char *pool,
                       int32_t device);
/* A name as keys have it: they stand in files, and people type them again. */
const char *key_name(struct arena *arena, const char *name);
/* In hundredths of a percent, rounded. whole > 0. */
uint64_t share_of(uint64_t part, uint64_t whole);

#endif
