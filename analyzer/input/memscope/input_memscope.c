/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording of msleaks or msmemscope as an input: one file, csv or db, or the folder of a run,
 * in which each device has a file.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input_kinds.h"
#include "list.h"
#include "memscope_files.h"

enum { depth_max = 5, files_max = 4096 };

struct file_list {
    char **paths;
    size_t count, capacity;
};

struct memscope {
    struct memscope_rows *rows;
    struct model *model;
    struct mt_error damage; /* the first that was passed over */
    enum mt_result damage_result;
};

/* --- files of a run ------------------------------------------------------------------------ */

static bool is_dump_name(const char *name)
{
    return (strncmp(name, "memscope_dump_", 14) == 0 || strncmp(name, "leaks_dump_", 11) == 0 ||
            strncmp(name, "python_trace_", 13) == 0) &&
           (strstr(name, ".csv") || strstr(name, ".db"));
}

static bool list_add(struct file_list *list, const char *path)
{
    if (!list_has_room(&list->paths, &list->capacity, list->count, sizeof(*list->paths)))
        return false;
    list->paths[list->count] = strdup(path);
    if (!list->paths[list->count])
        return false;
    list->count++;
    return true;
}

static void list_release(struct file_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct file_list){0};
}

/* Files by their names, at most depth_max folders down; false when there is no memory. */
static bool list_folder(struct file_list *list, const char *path, unsigned depth)
{
    DIR *folder = depth < depth_max ? opendir(path) : NULL;
    const struct dirent *entry;
    bool is_good = true;

    while (folder && is_good && list->count < files_max && (entry = readdir(folder))) {
        char inner[4096];
        struct stat status;
        int length = snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);

        if (entry->d_name[0] == '.' || length < 0 || (size_t)length >= sizeof(inner) ||
            lstat(inner, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode))
            is_good = list_folder(list, inner, depth + 1);
        else if (S_ISREG(status.st_mode) && is_dump_name(entry->d_name))
            is_good = list_add(list, inner);
    }
    if (folder)
        closedir(folder);
    return is_good;
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool list_files(struct file_list *list, const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return list_add(list, path);
    if (!list_folder(list, path, 0))
        return false;
    if (list->count)
        qsort(list->paths, list->count, sizeof(*list->paths), compare_paths);
    return true;
}

static int memscope_recognises(const char *path)
{
    struct file_list list = {0};
    int is_ours = 0;

    if (list_files(&list, path))
        for (size_t i = 0; i < list.count && !is_ours; i++)
            is_ours =
                memscope_csv_recognises(list.paths[i]) || memscope_db_recognises(list.paths[i]);
    list_release(&list);
    return is_ours;
}

/* --- reading ------------------------------------------------------------------------------- */

static void memscope_close(void *state)
{
    struct memscope *memscope = state;

    if (!memscope)
        return;
    memscope_rows_destroy(memscope->rows);
    free(memscope);
}

/* The csv and the db of one device would be the same rows twice; a run has one or the other. */
static enum mt_result read_files(struct memscope *memscope, const struct file_list *list,
                                 struct mt_error *error)
{
    enum mt_result result = MT_OK;

    for (size_t i = 0; i < list->count && result == MT_OK; i++) {
        const char *path = list->paths[i];

        if (memscope_db_recognises(path))
            result = memscope_db_read(path, memscope->model, memscope->rows, error);
        else if (memscope_trace_recognises(path))
            result = memscope_trace_read(path, memscope->model, memscope->rows, error);
        else
            result = memscope_csv_read(path, memscope->model, memscope->rows, error);
        if (result == MT_CORRUPT && model_wants_partial(memscope->model)) {
            if (memscope->damage_result == MT_OK) {
                memscope->damage_result = result;
                memscope->damage = *error;
            }
            model_note_damage(memscope->model, error);
            result = MT_OK;
        }
    }
    return result;
}

/* Where damage left nothing, the damage is what there is to say. */
static enum mt_result sort_rows(struct memscope *memscope, const char *path, struct mt_error *error)
{
    enum mt_result result = memscope_rows_sort(memscope->rows, path, error);

    if (result == MT_NO_DATA && memscope->damage_result != MT_OK)
        return mt_error_set(error, memscope->damage_result, "%s", memscope->damage.message);
    return result;
}

static enum mt_result memscope_open(const char *path, struct model *model, void **state,
                                    struct mt_error *error)
{
    struct memscope *memscope = calloc(1, sizeof(*memscope));
    struct file_list list = {0};
    enum mt_result result = MT_NO_MEMORY;

    if (memscope && list_files(&list, path)) {
        memscope->model = model;
        result = memscope_rows_create(model, model_text(model, path, strlen(path)), &memscope->rows,
                                      error);
    } else {
        mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    }
    if (result == MT_OK)
        result = read_files(memscope, &list, error);
    if (result == MT_OK)
        result = sort_rows(memscope, path, error);
    if (result == MT_OK)
        result = model_status(model, error);
    list_release(&list);
    if (result != MT_OK) {
        memscope_close(memscope);
        return result;
    }
    *state = memscope;
    return MT_OK;
}

static enum mt_result memscope_next(void *state, struct event *batch, size_t capacity,
                                    size_t *count, struct mt_error *error)
{
    struct memscope *memscope = state;

    enum mt_result result = memscope_rows_next(memscope->rows, batch, capacity, count, error);

    return result == MT_OK ? model_status(memscope->model, error) : result;
}

const struct input_kind input_memscope = {
    .name = "memscope recording",
    .contents = "blocks of device, pools and pinned host memory with owner and, where recorded, "
                "innermost frame; operators, launches, accesses, steps",
    .recognises = memscope_recognises,
    .open = memscope_open,
    .next = memscope_next,
    .close = memscope_close,
};
