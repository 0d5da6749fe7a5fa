/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What known_stacks writes for call_stacks_test: one of these for each block that it allocates.
 * Each block has a size of its own.
 */
#ifndef LEAKTIDE_TESTS_KNOWN_STACKS_H
#define LEAKTIDE_TESTS_KNOWN_STACKS_H

#include <stdint.h>

enum { KNOWN_FRAMES = 600, KNOWN_SIZE_MIN = 5000, KNOWN_BLOCKS_MAX = 60000 };

struct known_stack {
    uint64_t size_bytes;
    uint64_t count;
    uint64_t pcs[KNOWN_FRAMES]; /* innermost first; the first is near the call, not of it */
};

#endif
