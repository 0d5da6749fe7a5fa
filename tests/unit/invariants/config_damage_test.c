/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions of the recorder's options.
 */
#include <stdint.h>
#include <string.h>

#include "config.c"
#include "death.h"

static struct config good;

static void make(void)
{
    good = *config_get();
    config_check(&good);
}

#define OPTION(name, ...) DAMAGE(make, name, __VA_ARGS__; config_check(&good))

OPTION(stack_frames, good.stack_frames = OPTION_FRAMES_MAX + 1)
OPTION(python_frames, good.python_frames = OPTION_FRAMES_MAX + 1)
OPTION(host_stacks, good.has_host_stacks = true; good.stack_frames = good.python_frames = 0)
OPTION(sample_ms, good.sample_ms = OPTION_SAMPLE_MS_MOST + 1)
OPTION(ring_least, good.ring_bytes = 1)
OPTION(ring_most, good.ring_bytes = UINT64_C(1) << 40)
OPTION(ring_power, good.ring_bytes = 3 << 16)
OPTION(stack_least, good.stack_bytes = 1)
OPTION(stack_most, good.stack_bytes = UINT64_C(1) << 40)
OPTION(launches, good.records_launches = true; good.wants_launches = false)
OPTION(output_path, memset(good.output_path, 'x', sizeof(good.output_path)))
OPTION(watch, memset(good.watch, 'x', sizeof(good.watch)))
OPTION(control_file, memset(good.control_file, 'x', sizeof(good.control_file)))

int main(void)
{
    return deaths_run();
}
