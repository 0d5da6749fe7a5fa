/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the first bytes of a file say of it.
 */
#ifndef LEAKTIDE_SNAPSHOT_LOOK_H
#define LEAKTIDE_SNAPSHOT_LOOK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the first bytes are those of a pickle that can be read. */
bool snapshot_is_pickle(const unsigned char *bytes, size_t size_bytes);
/* A pickle, whatever is in it, or the JSON of a snapshot. */
bool snapshot_may_be(const char *path);
/* With words of a snapshot: for files that nobody named. */
bool snapshot_is_surely(const char *path);

#endif
