/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether room that a file system has given (posix_fallocate) is room for every later store.
 *
 * Most overwrite a page where it stands. Some write each page anew in another place; where the disk
 * is full by then, the store into a mapped page ends the process (SIGBUS).
 */
#ifndef LEAKTIDE_TRACER_FILE_ROOM_H
#define LEAKTIDE_TRACER_FILE_ROOM_H

#include <stdbool.h>

/*
 * Asks the file system to overwrite this file in place, which helps only while it is empty, and
 * tells whether stores into its mapped pages cannot fail once there is room. False: they can, or
 * could before Linux 6.15; pwrite() over what was written still needs no more room.
 */
bool file_room_is_kept(int descriptor);

#endif
