/* SPDX-License-Identifier: Apache-2.0 */
/* What hand_over writes down about each block, in its own memory's layout. */
#ifndef LEAKTIDE_TEST_HAND_OVER_H
#define LEAKTIDE_TEST_HAND_OVER_H

#include <stdint.h>

struct life {
    uint64_t address, size_bytes;
    uint64_t number; /* grows with time; taken while the block is alive */
};

enum { HAND_OVER_BYTES = 40011, HAND_OVER_SIZES = 5 };

#endif
