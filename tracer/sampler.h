/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples what the system and the driver say about memory, beside what the hooks have counted:
 * resident memory of the process, and free and total memory of each device in use.
 */
#ifndef MEMTIDE_TRACER_SAMPLER_H
#define MEMTIDE_TRACER_SAMPLER_H

/* Takes one sample of everything. Called by the drain thread, with signals blocked. */
void sampler_tick(void);

#endif
