/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts in csv files. Source: RFC 4180.
 */
#ifndef MEMTIDE_CSV_TEXT_H
#define MEMTIDE_CSV_TEXT_H

#include <stdio.h>

/* In quotes; in quotes where it needs them. */
void csv_put_quoted(FILE *out, const char *text);
void csv_put_text(FILE *out, const char *text);

#endif
