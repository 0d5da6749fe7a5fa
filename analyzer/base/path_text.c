/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths without detours.
 */
#include "path_text.h"

#include <stdbool.h>
#include <string.h>

/* Where the last part of what is kept so far begins. */
static char *last_part(char *kept, char *end)
{
    char *last = end > kept + 1 ? end - 1 : kept;

    while (last > kept && last[-1] != '/')
        last--;
    return last;
}

void path_shorten(char *path)
{
    char *end = path;

    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/"), whole = length + (at[length] == '/');
        bool is_up = length == 2 && memcmp(at, "..", 2) == 0;
        bool is_nothing = (length == 1 && *at == '.') || (!length && at != path);
        char *last = last_part(path, end);

        if (is_up && end > path + 1 && strncmp(last, "../", 3) != 0) {
            end = last;
        } else if (!is_nothing && !(is_up && end == path + 1 && *path == '/')) {
            memmove(end, at, whole);
            end += whole;
        }
        at += whole;
    }
    *end = '\0';
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
