/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command as msleaks or msmemscope: the words of those tools, and their files.
 */
#ifndef LEAKTIDE_CLI_COMPAT_COMMAND_H
#define LEAKTIDE_CLI_COMPAT_COMMAND_H

#include "compat_request.h"

/* argv[0] is the name, or ends in it. Returns the exit status. */
int compat_command(const struct compat_generation *generation, int argc, char **argv);

/* Records the program of the request and writes the tool's files. The program's own status. */
int compat_record(const struct compat_request *request);

/* Speaks to a program that is being recorded. */
int compat_control(const struct compat_request *request);

/* Answers a question to files that are there: compares two, or looks at one. */
int compat_look(const struct compat_request *request);

#endif
