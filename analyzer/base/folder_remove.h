/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of our own is removed with all that is in it.
 */
#ifndef LEAKTIDE_FOLDER_REMOVE_H
#define LEAKTIDE_FOLDER_REMOVE_H

/* Links are removed, not followed. What cannot be removed stays, without a word. */
void folder_remove(const char *path);

#endif
