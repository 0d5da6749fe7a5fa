/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of the last 2,000 events that has not filled yet, as PyTorch's flight recorder is in a
 * short job.
 *
 *   flight_recorder [leak]
 *
 * With `leak`, as many blocks a step are kept beside it.
 */
#include <stdlib.h>

#include "leaktide/tracer.h"

enum { RING = 2000, STEPS = 40, A_STEP = 16, SIZE = 136 };

static void *ring[RING];
static void *volatile kept[STEPS * A_STEP];
static unsigned next, kept_count;

/* c10d::FlightRecorder<int>::record() */
void record(void) __asm__("_ZN4c10d14FlightRecorderIiE6recordEv");

__attribute__((noinline)) void record(void)
{
    free(ring[next % RING]);
    ring[next++ % RING] = malloc(SIZE);
}

void keep_for_ever(void);

__attribute__((noinline)) void keep_for_ever(void)
{
    kept[kept_count++] = malloc(SIZE);
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int step = 0; step < STEPS; step++) {
        mt_step_begin();
        for (int i = 0; i < A_STEP; i++) {
            record();
            if (argc > 1)
                keep_for_ever();
        }
        mt_step_end();
    }
    return 0;
}
