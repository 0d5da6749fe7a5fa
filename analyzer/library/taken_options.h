/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller hands in: recordings, and options of another version of the library.
 *
 *     struct mt_ask_options whole = {.size_bytes = sizeof(whole), .warm_up_steps = -1};
 *
 *     result = options_take(&whole, sizeof(whole), options, error);
 *
 * Every options struct begins with its size in bytes, and only grows at its end.
 */
#ifndef LEAKTIDE_LIBRARY_TAKEN_OPTIONS_H
#define LEAKTIDE_LIBRARY_TAKEN_OPTIONS_H

#include <stddef.h>

#include "error_sentence.h"

/*
 * What the caller has takes the place of what stands in own, which holds what is meant by members
 * that an older caller lacks. given NULL: nothing does.
 *
 * Returns MT_OK; MT_USAGE for a struct without its size; MT_UNSUPPORTED when a newer caller has set
 * something that this version does not know.
 */
enum mt_result options_take(void *own, size_t own_bytes, const void *given, struct mt_error *error);

/* MT_USAGE where no path was handed in: an answer about nothing would read as a good one. */
enum mt_result paths_take(size_t count, struct mt_error *error);

#endif
