/* SPDX-License-Identifier: Apache-2.0 */
#include "preload_name.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash.h"

static bool can_be_named(const char *path)
{
    return !strpbrk(path, ": \t\n\v\f\r");
}

/* The folder of all links: nobody else could have put something else in their place. */
static bool links_folder(char *folder, size_t folder_bytes)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    const char *base = runtime && *runtime == '/' && can_be_named(runtime) ? runtime : "/tmp";
    struct stat found;
    int length = snprintf(folder, folder_bytes, "%s/leaktide-%u", base, (unsigned)geteuid());

    return length > 0 && (size_t)length < folder_bytes &&
           (mkdir(folder, 0700) == 0 || errno == EEXIST) && lstat(folder, &found) == 0 &&
           S_ISDIR(found.st_mode) && found.st_uid == geteuid() && !(found.st_mode & 077);
}

/* Links are never changed: one of that name leads to that folder, or is not ours. */
static bool link_make(const char *link, const char *folder)
{
    char found[PATH_MAX];
    ssize_t length;

    if (symlink(folder, link) != 0 && errno != EEXIST)
        return false;
    length = readlink(link, found, sizeof(found) - 1);
    if (length <= 0)
        return false;
    found[length] = 0;
    return strcmp(found, folder) == 0;
}

bool preload_name(char *path, size_t path_bytes)
{
    char folder[PATH_MAX], link[PATH_MAX], name[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length;

    if (can_be_named(path))
        return true;
    if (*path != '/' || strlen(path) >= sizeof(folder) || !can_be_named(slash) ||
        !links_folder(link, sizeof(link)))
        return false;
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
    length =
        snprintf(name, sizeof(name), "%s/%016" PRIx64, link, hash_bytes(folder, strlen(folder)));
    if (length < 0 || (size_t)length + strlen(slash) >= path_bytes ||
        (size_t)length >= sizeof(name) || !link_make(name, folder))
        return false;
    memmove(path + length, slash, strlen(slash) + 1);
    memcpy(path, name, (size_t)length);
    return true;
}
