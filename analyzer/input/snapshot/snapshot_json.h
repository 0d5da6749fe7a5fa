/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same snapshot as JSON, as json.dump() of Python writes it and as viewers take it.
 */
#ifndef LEAKTIDE_INPUT_SNAPSHOT_JSON_H
#define LEAKTIDE_INPUT_SNAPSHOT_JSON_H

#include "byte_stream.h"
#include "snapshot_tables.h"

enum mt_result snapshot_json_read(struct byte_stream *stream, struct snapshot_tables *tables,
                                  struct snapshot_value *root, struct mt_error *error);

#endif
