/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder for the files of one test. Trouble ends the test program.
 */
#ifndef LEAKTIDE_TESTS_TEMPORARY_FOLDER_H
#define LEAKTIDE_TESTS_TEMPORARY_FOLDER_H

#include <stddef.h>

/* The path of a new, empty folder; free() it after temporary_folder_remove(). */
char *temporary_folder_create(void);

/* Removes the folder, the files in it, and the path. */
void temporary_folder_remove(char *folder);

/* Writes a file into the folder; returns its path, to be freed. */
char *temporary_file_write(const char *folder, const char *name, const void *bytes,
                           size_t size_bytes);

#endif
