/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command's exit status means. `leaktide run` passes on the program's own instead.
 */
#ifndef LEAKTIDE_CLI_EXIT_CODES_H
#define LEAKTIDE_CLI_EXIT_CODES_H

#include "leaktide/analyzer.h"

enum exit_code {
    EXIT_FINE = 0,
    EXIT_FOUND = 1,   /* findings over the limit */
    EXIT_USAGE = 2,   /* wrong use */
    EXIT_INPUT = 3,   /* input unreadable or incomplete */
    EXIT_NO_DATA = 4, /* not enough data to judge */
    EXIT_REMARKS = 5, /* of gate --strict: nothing worse than a remark */
    EXIT_NO_PROGRAM = 127
};

enum exit_code exit_code_of_result(enum mt_result result);
enum exit_code exit_code_of_outcome(enum mt_outcome outcome);

#endif
