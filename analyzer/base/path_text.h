/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as texts, whether or not there is such a file.
 */
#ifndef LEAKTIDE_BASE_PATH_TEXT_H
#define LEAKTIDE_BASE_PATH_TEXT_H

/* What is after the last slash; borrowed of the path. */
const char *path_base(const char *path);

/* Takes out "./", "//" and "folder/..": debug data has paths as the compiler was called with. */
void path_shorten(char *path);

#endif
