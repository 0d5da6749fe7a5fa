/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of all commands, for who writes pages about them.
 */
#ifndef LEAKTIDE_MAIN_COMMAND_TABLE_H
#define LEAKTIDE_MAIN_COMMAND_TABLE_H

#include "commands.h"

extern const struct command command_completion;

/* In the order of the help; NULL after the last. */
const struct command *command_at(size_t index);

#endif
