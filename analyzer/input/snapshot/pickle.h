/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a pickle without running it.
 *
 * A pickle is a program that can call any function of Python. Here only the instructions are known
 * that make numbers, texts, lists, tuples and dicts; any other ends the reading, by name and
 * position. Depth, values, memo and texts are bounded, so a file cannot take more than it is long.
 */
#ifndef LEAKTIDE_INPUT_PICKLE_H
#define LEAKTIDE_INPUT_PICKLE_H

#include "byte_stream.h"
#include "snapshot_tables.h"

/* Protocols 2 to 5, from Python or from C++. *root is the one value that the pickle is. */
enum mt_result pickle_read(struct byte_stream *stream, struct snapshot_tables *tables,
                           struct snapshot_value *root, struct mt_error *error);

#endif
