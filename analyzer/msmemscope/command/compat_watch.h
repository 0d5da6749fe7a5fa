/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --watch has read, moved to where msmemscope has it: <folder>/device_<N>/watch_dump.
 */
#ifndef LEAKTIDE_CLI_COMPAT_WATCH_H
#define LEAKTIDE_CLI_COMPAT_WATCH_H

#include "compat_layout.h"

/* Of the process of `place`. */
enum mt_result compat_watch_move(const struct compat_place *place, const char *trace_folder,
                                 struct mt_error *error);

#endif
