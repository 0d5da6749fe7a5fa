/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The man page of msmemscope and msleaks, made from the table of their options.
 */
#ifndef LEAKTIDE_CLI_COMPAT_PAGE_H
#define LEAKTIDE_CLI_COMPAT_PAGE_H

#include <stdio.h>

void compat_write_man(FILE *out);

#endif
