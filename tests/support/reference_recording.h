/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings of others, which are not part of the project: tests on them are skipped where the
 * folder MT_REFERENCE_DATA was not given to CMake.
 */
#ifndef LEAKTIDE_TESTS_REFERENCE_RECORDING_H
#define LEAKTIDE_TESTS_REFERENCE_RECORDING_H

#include <stdio.h>

#include "trace_reading.h"

/* Read whole; skips the test if there is no such folder. Needs cmocka.h before it. */
static inline struct trace_reading reference_recording(const char *file)
{
    char path[1024];

    if (!MT_REFERENCE_DATA[0])
        skip();
    snprintf(path, sizeof(path), "%s/%s", MT_REFERENCE_DATA, file);
    return trace_reading_of(path, 0);
}

#endif
