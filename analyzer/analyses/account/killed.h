/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that the kernel killed for memory, and limits of their cgroups.
 */
#ifndef LEAKTIDE_ANALYSES_KILLED_H
#define LEAKTIDE_ANALYSES_KILLED_H

#include "analysis.h"

bool was_killed_for_memory(const struct question *question, uint16_t process);
/* Of ACCOUNT_CGROUP_LIMIT, and what a kill tells of it: false where there is none. */
bool cgroup_has_limit(uint64_t limit_bytes);
/* " (limit 96.0 MiB)"; "" without one. */
const char *cgroup_limit_words(struct report *report, uint64_t limit_bytes);

#endif
