/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap of a JVM (HotSpot), by the counters that it maps as /tmp/hsperfdata_USER/PID.
 *
 * They say how much of it is committed and in use, but not where it is. It is the mappings, one
 * after the other, that have just as much committed; where there are none, as with ZGC, nothing is
 * said.
 */
#ifndef LEAKTIDE_TRACER_JAVA_HEAP_H
#define LEAKTIDE_TRACER_JAVA_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "mappings.h"
#include "process_memory.h"

struct java_heap {
    uint64_t start, end; /* start = end: there is none */
    uint64_t used_bytes; /* by objects, and by garbage that was not collected yet */
};

void java_heap_find(struct java_heap *heap, struct process_memory *memory,
                    const struct mappings *mappings);

#endif
