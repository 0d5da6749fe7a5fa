/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small numbers of Parquet, all of one width: runs of one value, and runs of packed bits.
 *
 *   run  varint count << 1, then the value in whole bytes
 *        varint groups << 1 | 1, then eight values a group, lowest bit first
 */
#ifndef LEAKTIDE_PARQUET_RUNS_H
#define LEAKTIDE_PARQUET_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text_builder.h"

/* width: bits, 0 to 32. False when the bytes do not hold as many. */
bool parquet_runs_get(const unsigned char *bytes, size_t size_bytes, unsigned width,
                      uint32_t *values, size_t count);

/* Whether each of the values is there: one bit. count > 0; flags NULL: all are. */
void parquet_runs_put_flags(struct text_builder *text, const uint8_t *flags, size_t count);

#endif
