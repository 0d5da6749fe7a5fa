/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver and the system say of memory, as samples of the calling thread.
 *
 * The vendor's counters need the program's context: call these on its threads, outside of the
 * vendor's own calls, and where nothing that they call is recorded.
 */
#ifndef LEAKTIDE_TRACER_DEVICE_COUNTERS_H
#define LEAKTIDE_TRACER_DEVICE_COUNTERS_H

#include "recording.h"

void counters_of_vendor(enum recording_counters vendor);
void counters_of_all(void);

/* Of a process that is alone: the consumer of a run takes them itself. Opens a file of the system.
 */
void counters_of_process(void);

#endif
