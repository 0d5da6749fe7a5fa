/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command's exit status means.
 */
#include "exit_codes.h"

enum exit_code exit_code_of_result(enum mt_result result)
{
    static const enum exit_code codes[] = {
        [MT_OK] = EXIT_FINE,         [MT_USAGE] = EXIT_USAGE,       [MT_IO] = EXIT_INPUT,
        [MT_CORRUPT] = EXIT_INPUT,   [MT_UNSUPPORTED] = EXIT_INPUT, [MT_NOT_FOUND] = EXIT_INPUT,
        [MT_NO_DATA] = EXIT_NO_DATA, [MT_NO_MEMORY] = EXIT_INPUT,   [MT_CANCELLED] = EXIT_INPUT,
    };

    return codes[result];
}

enum exit_code exit_code_of_outcome(enum mt_outcome outcome)
{
    static const enum exit_code codes[] = {
        [MT_OUTCOME_FINE] = EXIT_FINE,
        [MT_OUTCOME_NO_DATA] = EXIT_NO_DATA,
        [MT_OUTCOME_FOUND] = EXIT_FOUND,
    };

    return codes[outcome];
}
