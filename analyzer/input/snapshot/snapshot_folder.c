/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of snapshots, one of each rank, as an input: read one after the other.
 *
 * Other files in it are left alone. Folders in it are not entered: they are other moments.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input_kinds.h"
#include "list.h"
#include "path_text.h"
#include "snapshot_look.h"

struct snapshot_file {
    char *path;
    int32_t rank;
};

struct snapshot_folder {
    struct model *model;
    struct snapshot_file *files;
    size_t count, capacity;
    size_t next;
    void *snapshot;         /* of files[next - 1]; NULL: none is open */
    struct mt_error damage; /* the first that was passed over */
    enum mt_result damage_result;
    bool has_events;
};

/* --- its files ----------------------------------------------------------------------------- */

static bool add_file(struct snapshot_folder *folder, const char *path)
{
    struct snapshot_file *file;

    if (!list_has_room(&folder->files, &folder->capacity, folder->count, sizeof(*folder->files)))
        return false;
    file = &folder->files[folder->count];
    *file = (struct snapshot_file){strdup(path), path_rank(path_base(path))};
    folder->count += file->path != NULL;
    return file->path != NULL;
}

/* False: no memory. With is_one, the first will do. */
static bool list_snapshots(struct snapshot_folder *folder, const char *path, bool is_one)
{
    DIR *listing = opendir(path);
    const struct dirent *entry;
    bool is_good = true;

    while (listing && is_good && !(is_one && folder->count) && (entry = readdir(listing))) {
        char inner[4096];
        struct stat status;
        int length = snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);

        if (entry->d_name[0] == '.' || length < 0 || (size_t)length >= sizeof(inner) ||
            stat(inner, &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        if (snapshot_is_surely(inner))
            is_good = add_file(folder, inner);
    }
    if (listing)
        closedir(listing);
    return is_good;
}

static void release_files(struct snapshot_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        free(folder->files[i].path);
    free(folder->files);
}

static int compare_files(const void *left, const void *right)
{
    const struct snapshot_file *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return strcmp(a->path, b->path);
}

static int folder_recognises(const char *path)
{
    struct snapshot_folder folder = {.count = 0};
    int is_ours;

    list_snapshots(&folder, path, true);
    is_ours = folder.count > 0;
    release_files(&folder);
    return is_ours;
}

/* --- reading ------------------------------------------------------------------------------- */

static void folder_close(void *state)
{
    struct snapshot_folder *folder = state;

    if (!folder)
        return;
    if (folder->snapshot)
        input_snapshot.close(folder->snapshot);
    release_files(folder);
    free(folder);
}

/* Two moments of a rank are not two ranks. */
static enum mt_result check_ranks(const struct snapshot_folder *folder, const char *path,
                                  struct mt_error *error)
{
    for (size_t i = 1; i < folder->count; i++)
        if (folder->files[i].rank >= 0 && folder->files[i].rank == folder->files[i - 1].rank)
            return mt_error_set(error, MT_USAGE,
                                "%s: several snapshots of rank %" PRId32
                                ", as %s and %s. Give one of each rank",
                                path, folder->files[i].rank, path_base(folder->files[i - 1].path),
                                path_base(folder->files[i].path));
    return MT_OK;
}

static enum mt_result folder_open(const char *path, struct model *model, void **state,
                                  struct mt_error *error)
{
    struct snapshot_folder *folder = calloc(1, sizeof(*folder));
    enum mt_result result = MT_OK;

    if (!folder || !list_snapshots(folder, path, false))
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    if (result == MT_OK) {
        folder->model = model;
        qsort(folder->files, folder->count, sizeof(*folder->files), compare_files);
        result = check_ranks(folder, path, error);
    }
    if (result != MT_OK) {
        folder_close(folder);
        return result;
    }
    *state = folder;
    return MT_OK;
}

/* After the damage in a file comes the next file, if what is there is wanted; a rank that holds
 * nothing is said. */
static enum mt_result pass_over(struct snapshot_folder *folder, enum mt_result result,
                                struct mt_error *error)
{
    bool is_passed = result == MT_NO_DATA || (model_wants_partial(folder->model) &&
                                              (result == MT_CORRUPT || result == MT_IO));

    if (!is_passed)
        return result;
    if (folder->damage_result == MT_OK) {
        folder->damage_result = result;
        folder->damage = *error;
    }
    if (result == MT_NO_DATA)
        model_lack(folder->model, "left out: %s", error->message);
    else
        model_note_damage(folder->model, error);
    return MT_OK;
}

static void close_file(struct snapshot_folder *folder)
{
    if (folder->snapshot)
        input_snapshot.close(folder->snapshot);
    folder->snapshot = NULL;
}

static enum mt_result folder_next(void *state, struct event *batch, size_t capacity, size_t *count,
                                  struct mt_error *error)
{
    struct snapshot_folder *folder = state;
    enum mt_result result = MT_OK;

    *count = 0;
    while (result == MT_OK && !*count && (folder->snapshot || folder->next < folder->count)) {
        if (!folder->snapshot)
            result = input_snapshot.open(folder->files[folder->next++].path, folder->model,
                                         &folder->snapshot, error);
        if (result == MT_OK)
            result = input_snapshot.next(folder->snapshot, batch, capacity, count, error);
        folder->has_events |= result == MT_OK && *count;
        if (result == MT_OK && !*count)
            close_file(folder);
        if (result != MT_OK) {
            close_file(folder);
            *count = 0;
            result = pass_over(folder, result, error);
        }
    }
    if (result == MT_OK && !*count && !folder->has_events && folder->damage_result != MT_OK)
        return mt_error_set(error, folder->damage_result, "%s", folder->damage.message);
    return result;
}

const struct input_kind input_snapshot_folder = {
    .name = "PyTorch memory snapshot",
    .contents = "every block of the caching allocator with its innermost frame, reserved memory, "
                "annotations; no steps unless a profiler marked them",
    .recognises = folder_recognises,
    .open = folder_open,
    .next = folder_next,
    .close = folder_close,
};
