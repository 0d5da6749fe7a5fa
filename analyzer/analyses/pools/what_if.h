/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pool would have reserved with other settings of its allocator: the recorded requests, in
 * their order and on their streams, given to a model of it.
 *
 * The model is asked first what the pool reserves as it ran. How far that is from what was
 * recorded is the error of all the rest: beyond WHAT_IF_TRUST_PERMILLE nothing is believed.
 */
#ifndef LEAKTIDE_ANALYSES_WHAT_IF_H
#define LEAKTIDE_ANALYSES_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"
#include "caching_allocator.h"

enum { WHAT_IF_LEDGERS_MOST = 3, WHAT_IFS_MOST = 6, WHAT_IF_TRUST_PERMILLE = 20 };

struct what_if {
    const char *setting; /* as the allocator takes it */
    struct allocator_settings settings;
    struct allocator_totals totals;
    uint64_t kept_peak_bytes; /* reserved at most by an allocator that never gives back */
};

struct what_if_ledger {
    uint16_t ledger;
    const char *trouble;     /* why there are no answers; NULL: there are */
    uint64_t recorded_bytes; /* the most that was reserved */
    uint64_t give_back_count;
    struct what_if as_it_ran;
    struct what_if others[WHAT_IFS_MOST];
    size_t other_count;
    unsigned error_permille; /* of the model, as it ran */
    bool is_believed;
};

struct what_ifs {
    struct what_if_ledger ledgers[WHAT_IF_LEDGERS_MOST];
    size_t count;
};

/* Pools of PyTorch and torch_npu: those whose allocator is modelled. */
bool what_if_is_for(const struct question *question, const struct ledger *ledger);
/* Where such a pool's settings are read from: "PYTORCH_CUDA_ALLOC_CONF". */
const char *what_if_variable(const struct question *question, const struct ledger *ledger);

/*
 * Of pools that the model is for, and that tell what they reserve. asked: a setting more, of those
 * that allocator_settings_read() takes; NULL: none. Texts live as long as the question's model.
 * Reads the recording. MT_USAGE: what is asked for; MT_NO_MEMORY, or as
 * lives_read().
 */
enum mt_result what_ifs_read(const struct question *question, const char *asked,
                             struct what_ifs *what_ifs, struct mt_error *error);

/*
 * Reserved at most, however it came that memory was given back: a program that empties its cache
 * does so with any setting, a device that is full may not be with this one.
 */
uint64_t what_if_most_bytes(const struct what_if *what_if);

/* The setting that would have reserved least, if less than it did; NULL: none, or not believed. */
const struct what_if *what_if_best(const struct what_if_ledger *ledger);

/* Adds the table "what if", and notes on what is not believed. */
void what_ifs_show(const struct what_ifs *what_ifs, const struct question *question,
                   struct report *report);

#endif
