/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library's path in characters that LD_PRELOAD can hold.
 */
#ifndef LEAKTIDE_LAUNCHER_PRELOAD_NAME_H
#define LEAKTIDE_LAUNCHER_PRELOAD_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The loader separates names by blanks and colons, and there is no way to write them. A path that
 * has one is exchanged for another name of the same file: below a link to its folder, which lies in
 * $XDG_RUNTIME_DIR or /tmp, in a folder that is the user's own and closed to all others. The link
 * stays, because processes of the program may start late. Any other path stays as it is.
 * False: no such link can be made; the path is as before.
 */
bool preload_name(char *path, size_t path_bytes);

#endif
