/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where summaries lie.
 *
 *   NAME.partial-4711 ──rename──► NAME
 */
#include "summary_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder_remove.h"
#include "list.h"
#include "summary_files.h"

enum { depth_most = 3 };

#define SIGN_FILE "ranks.parquet"

static enum mt_result say_errno(const char *path, struct mt_error *error)
{
    return mt_error_set(error, MT_USAGE, "%s: %s", path, strerror(errno));
}

/* --- writing --------------------------------------------------------------------------------- */

static void place_release(struct summary_place *place)
{
    text_release(&place->place);
    text_release(&place->partial);
    text_release(&place->former);
}

static enum mt_result check_place(const char *folder, struct mt_error *error)
{
    struct stat status;

    if (stat(folder, &status) != 0)
        return errno == ENOENT ? MT_OK : say_errno(folder, error);
    if (summary_is_folder(folder) || (S_ISDIR(status.st_mode) && rmdir(folder) == 0))
        return MT_OK;
    return mt_error_set(error, MT_USAGE, "%s: something else than a summary is there", folder);
}

enum mt_result summary_place_begin(struct summary_place *place, const char *folder,
                                   struct mt_error *error)
{
    size_t length = strlen(folder);
    enum mt_result result;

    while (length > 1 && folder[length - 1] == '/')
        length--;
    text_init(&place->place);
    text_init(&place->partial);
    text_init(&place->former);
    text_add_bytes(&place->place, folder, length);
    text_add_format(&place->partial, "%s" SUMMARY_PARTIAL "%ld", text_get(&place->place),
                    (long)getpid());
    text_add_format(&place->former, "%s" SUMMARY_PARTIAL "%ld-former", text_get(&place->place),
                    (long)getpid());
    if (place->place.has_failed || place->partial.has_failed || place->former.has_failed) {
        place_release(place);
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a summary");
    }
    result = check_place(text_get(&place->place), error);
    if (result == MT_OK) {
        folder_remove(text_get(&place->partial)); /* of a process of this number, long ago */
        if (mkdir(text_get(&place->partial), 0777) != 0)
            result = say_errno(text_get(&place->partial), error);
    }
    if (result != MT_OK)
        place_release(place);
    return result;
}

const char *summary_place_path(const struct summary_place *place)
{
    return text_get(&place->partial);
}

enum mt_result summary_place_end(struct summary_place *place, enum mt_result result,
                                 struct mt_error *error)
{
    const char *partial = text_get(&place->partial), *to = text_get(&place->place);
    const char *former = text_get(&place->former);
    bool is_there = result == MT_OK && rename(to, former) == 0;

    if (result == MT_OK && rename(partial, to) != 0) {
        result = say_errno(to, error);
        if (is_there && rename(former, to) == 0)
            is_there = false;
    }
    if (result != MT_OK)
        folder_remove(partial);
    if (is_there)
        folder_remove(former);
    place_release(place);
    return result;
}

/* --- finding --------------------------------------------------------------------------------- */

bool summary_is_folder(const char *path)
{
    struct text_builder sign;
    struct stat status;
    bool is_there;

    text_init(&sign);
    text_add_format(&sign, "%s/" SIGN_FILE, path);
    is_there = !sign.has_failed && stat(text_get(&sign), &status) == 0 && S_ISREG(status.st_mode);
    text_release(&sign);
    return is_there;
}

void summary_folders_init(struct summary_folders *folders)
{
    *folders = (struct summary_folders){.paths = NULL};
    arena_init(&folders->arena);
}

void summary_folders_release(struct summary_folders *folders)
{
    free(folders->paths);
    free(folders->unfinished);
    arena_release(&folders->arena);
}

static bool add_path(struct summary_folders *folders, const char *path, bool is_whole)
{
    const char *copy = arena_copy(&folders->arena, path);

    if (is_whole &&
        list_has_room(&folders->paths, &folders->capacity, folders->count, sizeof(*folders->paths)))
        folders->paths[folders->count++] = copy;
    else if (!is_whole && list_has_room(&folders->unfinished, &folders->unfinished_capacity,
                                        folders->unfinished_count, sizeof(*folders->unfinished)))
        folders->unfinished[folders->unfinished_count++] = copy;
    else
        return false;
    return !folders->arena.has_failed;
}

static int has_entry_a_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.' &&
           (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK);
}

/* What was killed was begun again and finished: what it left says nothing. */
static bool is_finished(struct summary_folders *folders, const char *partial)
{
    const char *whole =
        arena_text(&folders->arena, partial, (size_t)(strstr(partial, SUMMARY_PARTIAL) - partial));

    return whole && summary_is_folder(whole);
}

static bool find_in(struct summary_folders *folders, const char *path, int depth)
{
    struct dirent **entries;
    int count;
    bool is_right = true;

    if (summary_is_folder(path))
        return add_path(folders, path, true);
    if (depth == depth_most)
        return true;
    count = scandir(path, &entries, has_entry_a_name, alphasort);
    if (count < 0)
        return errno != ENOMEM;
    for (int i = 0; i < count; i++) {
        const char *inner = arena_format(&folders->arena, "%s/%s", path, entries[i]->d_name);

        if (is_right)
            is_right = !strstr(entries[i]->d_name, SUMMARY_PARTIAL)
                           ? find_in(folders, inner, depth + 1)
                           : is_finished(folders, inner) || add_path(folders, inner, false);
        free(entries[i]);
    }
    free(entries);
    return is_right;
}

enum mt_result summary_folders_find(const char *path, struct summary_folders *folders,
                                    struct mt_error *error)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return mt_error_set(error, errno == ENOENT ? MT_NOT_FOUND : MT_IO, "%s: %s", path,
                            strerror(errno));
    if (!find_in(folders, path, 0))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for names of folders");
    return MT_OK;
}

static int path_compare(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void summary_folders_sort(struct summary_folders *folders)
{
    if (folders->count)
        qsort(folders->paths, folders->count, sizeof(*folders->paths), path_compare);
}
