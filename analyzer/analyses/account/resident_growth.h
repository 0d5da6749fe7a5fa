/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What grew of a process's resident memory, and of its cgroup, over the accounts of a recording.
 */
#ifndef LEAKTIDE_ANALYSES_RESIDENT_GROWTH_H
#define LEAKTIDE_ANALYSES_RESIDENT_GROWTH_H

#include "analysis.h"

/* count accounts of one process, by time; says nothing where they are too few, or nothing grew. */
void resident_growth_say(const struct question *question, struct report *report,
                         struct report_table *table, const struct memory_account *accounts,
                         size_t count);

/* The same of the cgroup that they tell of, which has other processes, too. */
void cgroup_growth_say(const struct question *question, struct report *report,
                       struct report_table *table, const struct memory_account *accounts,
                       size_t count);

/* Processes that run at the same time. */
void process_growth_say(const struct question *question, struct report *report,
                        struct report_table *table);

#endif
