/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files tell about a module: itself, and the one with its debug data.
 *
 *   the module      SYSROOT/path, path; with another machine's trace also FOLDER/name
 *   its debug data  in itself; FOLDER/.build-id/ab/cdef.debug, as well as SYSROOT/usr/lib/debug and
 *                   /usr/lib/debug; by the name that it gives (debuglink): beside it, in .debug/
 *                   beside it, FOLDER/path of it, FOLDER itself
 *
 * FOLDER is each that was given with --debug-dir. A file with another build-id is never taken.
 */
#ifndef LEAKTIDE_DEBUG_FILES_H
#define LEAKTIDE_DEBUG_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "elf_file.h"

/* Where to look; all borrowed. */
struct debug_places {
    const char *sysroot; /* NULL: / */
    const char *const *folders;
    size_t folder_count;
};

struct debug_files {
    char *module;    /* NULL: not here */
    char *debug;     /* with .debug_info; may be the module itself; NULL: not here */
    bool is_changed; /* there is a file of that name, but it is another build */
};

/* path: as recorded. The build-id may be unknown: then the names decide. */
void debug_files_find(struct debug_files *files, const struct debug_places *places,
                      const char *path, struct build_id recorded);
void debug_files_release(struct debug_files *files);

#endif
