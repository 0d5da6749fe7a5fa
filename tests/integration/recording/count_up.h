/* SPDX-License-Identifier: Apache-2.0 */
/* What count_up says about itself, in a file that it maps. */
#ifndef LEAKTIDE_TEST_COUNT_UP_H
#define LEAKTIDE_TEST_COUNT_UP_H

#include <stdint.h>

enum { COUNT_UP_LANES = 64 };

struct count_up_lane {
    uint64_t event_count;
    uint64_t others_line[7];
};

struct count_up_ledger {
    struct count_up_lane lanes[COUNT_UP_LANES];
    int32_t process_ids[COUNT_UP_LANES]; /* 0: not begun */
};

/* An event may be recorded although its thread had not counted it yet: so many a lane. */
enum { COUNT_UP_IN_FLIGHT = 2 };

#endif
