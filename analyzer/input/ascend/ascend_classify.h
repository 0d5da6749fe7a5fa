/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a single file is, by what is in it.
 */
#ifndef LEAKTIDE_ASCEND_CLASSIFY_H
#define LEAKTIDE_ASCEND_CLASSIFY_H

#include <stdbool.h>

#include "ascend_folder.h"

/* False when it tells nothing of memory, or is no file of an Ascend profile. */
bool ascend_classify(const char *path, enum ascend_file *kind);

#endif
