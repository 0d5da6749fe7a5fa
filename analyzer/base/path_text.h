/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as texts, whether or not there is such a file.
 */
#ifndef MEMTIDE_BASE_PATH_TEXT_H
#define MEMTIDE_BASE_PATH_TEXT_H

/* Takes out "./", "//" and "folder/..": debug data has paths as the compiler was called with. */
void path_shorten(char *path);

#endif
