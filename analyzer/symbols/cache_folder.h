/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of names that were found once: $XDG_CACHE_HOME/leaktide, else ~/.cache/leaktide.
 *
 * It is bounded: LEAKTIDE_NAMES_CACHE says how many MiB it may have, 0 that there is none. What was
 * not used for the longest time goes first. Other files in it are left alone.
 */
#ifndef LEAKTIDE_CACHE_FOLDER_H
#define LEAKTIDE_CACHE_FOLDER_H

#include <stdbool.h>

#include "text_builder.h"

#define CACHE_FOLDER_NAMES "names-" /* how its files begin */

/* Appends the path of the folder, which is made; false when there is none. */
bool cache_folder_add(struct text_builder *text);

/* The file was read: it is among the last to go. Writes once a day. */
void cache_folder_used(const char *path);

/* Removes files until the folder of this file has no more than it may have. */
void cache_folder_trim(const char *path);

#endif
