/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What msmemscope judges from step to step, by its own rules, and prints at the end:
 *
 *   leak  a block of a framework's pool that was taken in step n > 1 and is alive when step n + 1,
 *         or a later one, ends. It stays a leak when it is freed afterwards.
 *   gap   of each pool and step after the first, the least `used` divided by the most; the step
 *         with the least such ratio and the one with the greatest
 *
 * Both say little: see docs/verdicts.md for what we say instead.
 */
#ifndef LEAKTIDE_DUMP_STEPS_H
#define LEAKTIDE_DUMP_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dump_blocks.h"

enum dump_step_pool { STEP_POOL_ATB, STEP_POOL_MINDSPORE, STEP_POOL_PTA, STEP_POOLS };

struct dump_leak {
    int32_t device;
    enum dump_step_pool pool;
    uint64_t address, size_bytes;
    uint32_t step;
};

struct dump_gap {
    uint32_t step; /* 0: none yet */
    uint64_t least_bytes, most_bytes;
};

/* A pool on a device. */
struct dump_step_use {
    int32_t device;
    enum dump_step_pool pool;
    uint64_t least_bytes, most_bytes; /* in the step that runs */
    bool has_any;                     /* since it began */
    struct dump_gap narrowest, widest;
};

struct dump_steps {
    uint32_t newest, newest_ended; /* steps count from 1 */
    bool is_open;
    struct dump_step_use *uses;
    size_t use_count, use_capacity;
    struct dump_leak *leaks;
    size_t leak_count, leak_capacity;
    bool has_failed; /* no memory */
};

void dump_steps_release(struct dump_steps *steps);

void dump_step_begin(struct dump_steps *steps);
void dump_step_end(struct dump_steps *steps);
/* A row of a block, with the pool's `used` after it. */
void dump_steps_use(struct dump_steps *steps, const char *type, int32_t device,
                    uint64_t used_bytes);
/* A block is freed, or the process ends. */
void dump_steps_judge(struct dump_steps *steps, const struct dump_block *block);

/* In the tool's words. */
void dump_steps_print(struct dump_steps *steps, FILE *file);

#endif
