/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.json: what was asked for, in the keys of msmemscope.
 */
#ifndef LEAKTIDE_CLI_COMPAT_CONFIG_H
#define LEAKTIDE_CLI_COMPAT_CONFIG_H

#include "compat_request.h"

/* The whole file, without a line end after it, as there. */
void compat_config_text(const struct compat_request *request, struct text_builder *text);

/* Into the folder of a process. MT_IO. */
enum mt_result compat_config_write(const struct compat_request *request, const char *folder,
                                   struct mt_error *error);

#endif
