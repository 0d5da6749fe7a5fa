/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what was recorded to the files of msleaks or msmemscope, a set for each process.
 */
#ifndef LEAKTIDE_CLI_COMPAT_FILES_H
#define LEAKTIDE_CLI_COMPAT_FILES_H

#include "compat_request.h"

/*
 * trace_folder   of leaktide run
 * process_count  gets how many were recorded there
 *
 * Says on standard output what was written and what the tool would
 * say, on standard error what is wrong. False when a file could not be written.
 */
bool compat_files_write(const struct compat_request *request, const char *trace_folder,
                        size_t *process_count);

#endif
