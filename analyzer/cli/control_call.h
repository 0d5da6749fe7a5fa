/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line to the recording of a running process, and its answer on standard output.
 */
#ifndef LEAKTIDE_CLI_CONTROL_CALL_H
#define LEAKTIDE_CLI_CONTROL_CALL_H

#include <stdint.h>

/* The exit status. */
int control_call(int32_t process, const char *line);

#endif
