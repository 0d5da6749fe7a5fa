/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes inefficient_type into rows of a csv or a database of msleaks or msmemscope.
 */
#ifndef LEAKTIDE_DUMP_REWRITE_H
#define LEAKTIDE_DUMP_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"

/*
 * types: bits of enum dump_inefficient, by the number of the row from 0; row_count of them.
 * is_strict: see dump_inefficient.h; of no meaning for a database.
 */
enum mt_result dump_rewrite_csv(const char *path, const uint8_t *types, size_t row_count,
                                bool is_strict, struct mt_error *error);
enum mt_result dump_rewrite_db(const char *path, const uint8_t *types, size_t row_count,
                               struct mt_error *error);

#endif
