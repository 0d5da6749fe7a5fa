/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as texts, whether or not there is such a file.
 */
#ifndef LEAKTIDE_BASE_PATH_TEXT_H
#define LEAKTIDE_BASE_PATH_TEXT_H

#include <stdint.h>

#include "text_builder.h"

/* What is after the last slash; borrowed of the path. */
const char *path_base(const char *path);

/* The number after the last word "rank", as in rank3, rank_3 or rank-3; -1: there is none. */
int32_t path_rank(const char *path);

/* Takes out "./", "//" and "folder/..": debug data has paths as the compiler was called with. */
void path_shorten(char *path);

/*
 * From a folder to a file, "../summaries/pages/7.html", so that a link leads there also when both
 * are moved. Both are whole and without detours, as realpath() gives them. Begins with a dot, so
 * that no name in it is taken for a protocol.
 */
void text_add_relative_path(struct text_builder *text, const char *folder, const char *path);

#endif
