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

#endif
