/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths without detours.
 */
#include "path_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"

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

static bool is_letter(char character)
{
    return ((unsigned char)(character | 32) - (unsigned)'a') < 26;
}

int32_t path_rank(const char *path)
{
    int32_t rank = -1;

    for (const char *at = path; (at = strstr(at, "rank")); at += 4) {
        const char *number = at + 4 + (at[4] == '_' || at[4] == '-');
        unsigned long value =
            *number >= '0' && *number <= '9' ? strtoul(number, NULL, 10) : INT32_MAX + 1ul;

        if (value <= INT32_MAX && (at == path || !is_letter(at[-1])))
            rank = (int32_t)value;
    }
    return rank;
}

/* How much of both is the same folders, with the slash after them. */
static size_t common_length(const char *folder, const char *path)
{
    size_t common = 0;

    for (size_t i = 0; path[i] && (folder[i] == path[i] || (!folder[i] && path[i] == '/')); i++) {
        if (path[i] == '/')
            common = i + 1;
        if (!folder[i])
            break;
    }
    return common;
}

void text_add_relative_path(struct text_builder *text, const char *folder, const char *path)
{
    size_t common = common_length(folder, path);
    const char *rest = strlen(folder) < common ? "" : folder + common;

    MT_ASSERT(*folder == '/');
    MT_ASSERT(*path == '/');
    if (!*rest)
        text_add(text, "./");
    while (*rest) {
        text_add(text, "../");
        rest += strcspn(rest, "/");
        rest += *rest == '/';
    }
    text_add(text, path + common);
}
