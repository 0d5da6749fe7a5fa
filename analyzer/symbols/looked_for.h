/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static functions of an interpreter without whose names rules cannot tell what its frames mean.
 */
#ifndef LEAKTIDE_LOOKED_FOR_H
#define LEAKTIDE_LOOKED_FOR_H

#include <stddef.h>

extern const char *const names_looked_for[];
extern const size_t looked_for_count;

#endif
