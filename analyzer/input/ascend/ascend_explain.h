/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a path of a profile is in which there is no memory, why, and what to do next.
 */
#ifndef LEAKTIDE_ASCEND_EXPLAIN_H
#define LEAKTIDE_ASCEND_EXPLAIN_H

#include <stdbool.h>

#include "error_sentence.h"

/* Whether the file is one of several that a tool for Ascend writes, and tells nothing alone. */
bool ascend_is_part(const char *path);

/*
 * MT_OK: it has nothing to do with Ascend. MT_UNSUPPORTED: a part of a recording, the rest of which
 * was not given. MT_NO_DATA: a profile, or a database of one, without memory.
 */
enum mt_result ascend_explain(const char *path, struct mt_error *error);

#endif
