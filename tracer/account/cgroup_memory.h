/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cgroup of a process is charged: version 2, or the memory controller of version 1.
 */
#ifndef LEAKTIDE_TRACER_CGROUP_MEMORY_H
#define LEAKTIDE_TRACER_CGROUP_MEMORY_H

#include "account.h"

/*
 * process: a descriptor of its folder in /proc, beside which self/mountinfo says where cgroups are
 * for us. Version 0 where there is none that can be read, as in many containers. False: no memory.
 */
bool cgroup_memory_read(struct account_cgroup *cgroup, int process);

/* The cgroup of a process, to be read when the process has ended, too. */
struct cgroup_watch {
    int folder, version; /* folder: -1: none can be read */
    char path[256];
};

/* process: "/proc/4711". */
void cgroup_watch_open(struct cgroup_watch *watch, const char *process);
void cgroup_watch_close(struct cgroup_watch *watch);
/* How many processes of it the kernel has killed for memory so far; UINT64_MAX: not known. */
uint64_t cgroup_watch_kills(const struct cgroup_watch *watch);
/* UINT64_MAX: none, or not known. */
uint64_t cgroup_watch_limit(const struct cgroup_watch *watch);

#endif
