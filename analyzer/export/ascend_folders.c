/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folders of profiles.
 */
#include "ascend_folders.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "list.h"
#include "text_builder.h"

struct ascend_folder {
    uint32_t source; /* text */
    int32_t rank;
    char *path;
};

/* rank0_4711_20250109144402123_ascend_pt */
static void add_name(struct text_builder *path, const struct model_process *process,
                     const struct ascend_folder_stamp *stamp)
{
    time_t seconds = (time_t)(stamp->first_ns / 1000000000);
    char instant[32];
    struct tm parts;

    gmtime_r(&seconds, &parts);
    strftime(instant, sizeof(instant), "%Y%m%d%H%M%S", &parts);
    if (process->rank >= 0)
        text_add_format(path, "rank%" PRId32, process->rank);
    else
        text_add_format(path, "process%u", stamp->process);
    text_add_format(path, "_%" PRIu64 "_%s%03" PRIu64 "_ascend_%s", process->process_id, instant,
                    stamp->first_ns / 1000000 % 1000, stamp->is_mindspore ? "ms" : "pt");
}

/* Remembered before it is made. NULL without memory. */
static const char *add_row(struct ascend_folders *folders, const struct model_process *process,
                           const struct ascend_folder_stamp *stamp)
{
    struct ascend_folder row = {process->source, process->rank, NULL};
    struct text_builder path;

    if (!list_has_room(&folders->rows, &folders->capacity, folders->count, sizeof(row)))
        return NULL;
    text_init(&path);
    text_add_format(&path, "%s/", folders->path);
    add_name(&path, process, stamp);
    row.path = strdup(text_get(&path));
    text_release(&path);
    if (row.path)
        folders->rows[folders->count++] = row;
    return row.path;
}

enum mt_result ascend_folders_make(struct ascend_folders *folders,
                                   const struct model_process *process,
                                   const struct ascend_folder_stamp *stamp, const char **folder,
                                   struct mt_error *error)
{
    const char *path = add_row(folders, process, stamp);

    if (!path)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for a folder");
    if (mkdir(path, 0777) != 0)
        return mt_error_set(error, MT_USAGE, "%s: no folder can be made there", folders->name);
    *folder = path;
    return MT_OK;
}

const char *ascend_folders_find(const struct ascend_folders *folders,
                                const struct model_process *process)
{
    for (size_t i = 0; i < folders->count; i++)
        if (folders->rows[i].source == process->source && folders->rows[i].rank == process->rank)
            return folders->rows[i].path;
    return NULL;
}

void ascend_folders_release(struct ascend_folders *folders)
{
    for (size_t i = 0; i < folders->count; i++)
        free(folders->rows[i].path);
    free(folders->rows);
}
