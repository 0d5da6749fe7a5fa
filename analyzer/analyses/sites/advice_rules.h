/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do about what was found, and what that would save. Each topic has a table of rules of its
 * own; a rule looks for its evidence in this recording, and without it says nothing.
 * docs/advice.md has the thresholds and the sources.
 */
#ifndef LEAKTIDE_ANALYSES_ADVICE_RULES_H
#define LEAKTIDE_ANALYSES_ADVICE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis.h"

enum { ADVICES_MOST = 64 };

/* Evidence of one topic each: fragments.h, what_if.h, peak_trial.h, growth.h, failed_request.h. */
struct fragments;
struct what_ifs;
struct trials;
struct leak;
struct failed_request;

/* Rules whose evidence is not there, NULL, say nothing. */
struct evidence {
    const struct question *question;
    struct report *report;
    const struct fragments *fragments;
    const struct what_ifs *what_ifs;
    const struct trials *trials;
    const struct leak *leak; /* one, by steps */
    const struct failed_request *failed;
};

struct advice {
    const char *rule, *finding, *what_to_do;
    uint64_t saves_bytes; /* of the peak, of the pool or of the device; 0: not known */
    uint64_t saves_bytes_per_step;
    bool is_at_most; /* it saves so many bytes at most */
    bool is_tried;   /* by adding up, or replaying, this recording without it */
};

struct advices {
    struct advice rows[ADVICES_MOST];
    size_t count;
};

struct rule {
    const char *name;
    const char *what_to_do; /* NULL: it depends on what is found */
    void (*look)(const struct rule *rule, const struct evidence *evidence, struct advices *advices);
    bool is_tried; /* its saving comes from a trial on the recording */
};

/* Rules that several topics have; like all tables of rules they end with a NULL name. */
extern const struct rule workspace_rules[], communication_rules[], driver_rules[];

/* For a rule that looks. The newest one can be refined by it; NULL when there are too many. */
struct advice *advice_add(struct advices *advices, const struct rule *rule, const char *finding,
                          uint64_t saves_bytes, bool is_at_most);

/* What the rules of these tables say, largest saving first. tables: ends with NULL. */
void advices_collect(const struct evidence *evidence, const struct rule *const *tables,
                     struct advices *advices);
/* One finding, one advice: what the first rule of the table says that has its evidence. */
void advices_collect_first(const struct evidence *evidence, const struct rule *table,
                           struct advices *advices);

/* "TRY: stop it. Saves up to 3 MiB of the peak, 1 MiB per step." */
const char *advice_end(struct report *report, const struct advice *advice);
/* Adds each as a finding; the first `spoken` ones are sentences of the verdict as well. */
void advices_show(const struct advices *advices, struct report *report, int rank, size_t spoken);

#endif
