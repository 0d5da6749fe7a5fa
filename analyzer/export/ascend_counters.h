/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of counters, taken apart: "PTA reserved" is the reserved size of component PTA, and "module
 * HCCL reserved" that of a module of the driver.
 */
#ifndef LEAKTIDE_ASCEND_COUNTERS_H
#define LEAKTIDE_ASCEND_COUNTERS_H

#include <stddef.h>

enum { COUNTER_NAME_MOST = 64 };

struct counter_name {
    enum counter_field {
        COUNTER_OTHER, /* no counter of a profile */
        COUNTER_ALLOCATED,
        COUNTER_RESERVED,
        COUNTER_ACTIVE,
        COUNTER_DDR,
        COUNTER_HBM,
        COUNTER_MODULE
    } field;
    char name[COUNTER_NAME_MOST]; /* "PTA", "HCCL" */
};

void counter_name_read(struct counter_name *counter, const char *text);

#endif
