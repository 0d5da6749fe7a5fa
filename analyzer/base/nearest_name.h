/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody may have meant who wrote a word that is not known.
 */
#ifndef LEAKTIDE_BASE_NEAREST_NAME_H
#define LEAKTIDE_BASE_NEAREST_NAME_H

#include <stddef.h>

/*
 * Of the names that name_at gives for 0, 1, 2 ... up to NULL, the one that looks most like word, or
 * NULL when none is near.
 */
const char *nearest_name(const char *word, const char *(*name_at)(const void *context, size_t i),
                         const void *context);

#endif
