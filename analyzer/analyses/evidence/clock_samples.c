/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a number was when a process made its n-th block, about.
 */
#include "clock_samples.h"

#include <stddef.h>

/* Every second one goes. */
static void thin_out(struct clock_samples *samples)
{
    for (size_t i = 0; i < CLOCK_SAMPLES_MOST / 2; i++)
        samples->values[i] = samples->values[2 * i];
    samples->count = CLOCK_SAMPLES_MOST / 2;
    samples->stride *= 2;
}

void clock_samples_put(struct clock_samples *samples, uint32_t clock, uint64_t value)
{
    if (!samples->stride)
        samples->stride = 1;
    if (clock & (samples->stride - 1))
        return;
    if (samples->count == CLOCK_SAMPLES_MOST)
        thin_out(samples);
    if (!(clock & (samples->stride - 1)))
        samples->values[samples->count++] = value;
}

uint64_t clock_samples_at(const struct clock_samples *samples, uint32_t clock)
{
    uint32_t row = samples->stride ? clock / samples->stride : 0;

    if (!samples->count)
        return 0;
    return samples->values[row < samples->count ? row : samples->count - 1];
}
