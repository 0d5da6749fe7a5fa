/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large a folder of names is, and which file of it was used least.
 */
#define _GNU_SOURCE
#include "cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "list.h"

enum { most_mib = 256, day_s = 24 * 60 * 60 };

struct cached {
    char name[160]; /* a build-id has at most 64 bytes */
    uint64_t size_bytes;
    int64_t used_ns;
};

struct cached_list {
    struct cached *rows;
    size_t count, capacity;
    uint64_t size_bytes;
};

/* What is no number is as if nothing was said. */
static uint64_t most_bytes(void)
{
    const char *wanted = getenv("LEAKTIDE_NAMES_CACHE");
    unsigned long long mib = most_mib;
    char *end;

    if (wanted && *wanted >= '0' && *wanted <= '9') {
        errno = 0;
        mib = strtoull(wanted, &end, 10);
        if (errno || *end || mib > UINT64_MAX >> 20)
            mib = most_mib;
    }
    return mib << 20;
}

bool cache_folder_add(struct text_builder *text)
{
    const char *caches = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    if (!most_bytes())
        return false;
    if (caches && caches[0] == '/')
        text_add(text, caches);
    else if (home && home[0] == '/')
        text_add_format(text, "%s/.cache", home);
    else
        return false;
    mkdir(text_get(text), 0700);
    text_add(text, "/leaktide");
    mkdir(text_get(text), 0700);
    return true;
}

void cache_folder_used(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && time(NULL) - status.st_mtim.tv_sec > day_s)
        utimensat(AT_FDCWD, path, NULL, 0);
}

/* False without memory. */
static bool cached_add(struct cached_list *list, int folder, const char *name)
{
    struct stat status;
    struct cached *row;

    if (strncmp(name, CACHE_FOLDER_NAMES, strlen(CACHE_FOLDER_NAMES)) != 0 ||
        strlen(name) >= sizeof(row->name) ||
        fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return true;
    if (!list_has_room(&list->rows, &list->capacity, list->count, sizeof(*list->rows)))
        return false;
    row = &list->rows[list->count++];
    strcpy(row->name, name);
    row->size_bytes = (uint64_t)status.st_size;
    row->used_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    list->size_bytes += row->size_bytes;
    return true;
}

static int used_compare(const void *left, const void *right)
{
    const struct cached *a = left, *b = right;

    return (a->used_ns > b->used_ns) - (a->used_ns < b->used_ns);
}

static void trim(DIR *folder)
{
    struct cached_list list = {.count = 0};
    uint64_t most = most_bytes();
    const struct dirent *entry;

    while ((entry = readdir(folder)) && cached_add(&list, dirfd(folder), entry->d_name))
        ;
    if (list.size_bytes > most)
        qsort(list.rows, list.count, sizeof(*list.rows), used_compare);
    for (size_t i = 0; i < list.count && list.size_bytes > most; i++)
        if (unlinkat(dirfd(folder), list.rows[i].name, 0) == 0)
            list.size_bytes -= list.rows[i].size_bytes;
    free(list.rows);
}

void cache_folder_trim(const char *path)
{
    const char *name = strrchr(path, '/');
    char *folder = name ? strndup(path, (size_t)(name - path)) : NULL;
    DIR *opened = folder ? opendir(folder) : NULL;

    if (opened) {
        trim(opened);
        closedir(opened);
    }
    free(folder);
}
