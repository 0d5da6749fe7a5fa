/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a snapshot, and the lists that make stacks of them.
 *
 * A list is read frame by frame, innermost first, and used when it is whole. Frames of lists that
 * nobody has used yet lie one after the other, and are dropped when their list becomes a stack.
 */
#include "snapshot_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "list.h"

static bool is_python(const char *path)
{
    size_t length = strlen(path);

    return path[0] == '<' || (length > 3 && strcmp(path + length - 3, ".py") == 0);
}

static bool names_npu(const char *path)
{
    return strstr(path, "/torch_npu/") || strstr(path, "\\torch_npu\\");
}

uint32_t snapshot_frame(struct snapshot_tables *tables, uint32_t name, uint32_t file, uint64_t line)
{
    const char *path = model_text_at(tables->model, file);
    uint32_t frame =
        model_frame(tables->model, (struct model_frame){
                                       .process = tables->process,
                                       .kind = is_python(path) ? FRAME_PYTHON : FRAME_NATIVE,
                                       .function = name,
                                       .file = file,
                                       .line = line <= UINT32_MAX ? (uint32_t)line : 0,
                                   });

    /* Also when the model knows the frame already: a recording may be read again. */
    if (!tables->is_npu && file != tables->newest_file && names_npu(path))
        tables->is_npu = true;
    tables->newest_file = file;
    return frame;
}

static bool make_room(struct snapshot_tables *tables)
{
    return tables->waiting_count < UINT32_MAX / 2 &&
           list_has_room(&tables->waiting, &tables->waiting_capacity, tables->waiting_count,
                         sizeof(*tables->waiting));
}

enum mt_result snapshot_stack_append(struct snapshot_tables *tables, struct object *list,
                                     uint32_t frame, struct mt_error *error)
{
    if (!list->count)
        list->first = (uint32_t)tables->waiting_count;
    else if (list->first + list->count != tables->waiting_count)
        return mt_error_set(error, MT_UNSUPPORTED, "two lists of frames, written in turns");
    if (!make_room(tables))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for the stacks of a snapshot");
    tables->waiting[tables->waiting_count++] = frame;
    list->count++;
    return MT_OK;
}

uint32_t snapshot_stack_site(struct snapshot_tables *tables, struct object *list)
{
    uint32_t stack = 0;

    if (list->kind != OBJECT_FRAMES)
        return list->kind == OBJECT_STACK ? list->first : 0;
    for (uint32_t i = list->count; i-- > 0;)
        stack = model_stack(tables->model, stack, tables->waiting[list->first + i]);
    if (list->first + list->count == tables->waiting_count)
        tables->waiting_count = list->first;
    list->kind = OBJECT_STACK;
    list->first =
        model_site(tables->model, (struct model_site){.process = tables->process, .stack = stack});
    list->count = 1;
    return list->first;
}
