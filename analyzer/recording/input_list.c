/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of a recording, read one after the other.
 */
#include "input_list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum mt_result input_list_init(struct input_list *list, struct model *model,
                               const char *const *paths, size_t count, struct mt_error *error)
{
    *list = (struct input_list){.model = model, .source_kind = "nothing"};
    list->paths = calloc(count + 1, sizeof(*list->paths));
    for (; list->paths && list->path_count < count; list->path_count++) {
        list->paths[list->path_count] = strdup(paths[list->path_count]);
        if (!list->paths[list->path_count])
            break;
    }
    if (list->path_count < count || !list->paths)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", count ? paths[0] : "it");
    return MT_OK;
}

void input_list_release(struct input_list *list)
{
    input_close(list->input);
    for (size_t i = 0; i < list->path_count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct input_list){.path_count = 0};
}

static void keep_damage(struct input_list *list, enum mt_result result,
                        const struct mt_error *error)
{
    if (list->damage_result == MT_OK) {
        list->damage_result = result;
        list->damage = *error;
    }
}

/* One of several that has nothing to read is left out, and said. */
static enum mt_result leave_out(struct input_list *list, enum mt_result result,
                                const struct mt_error *error)
{
    if (list->path_count == 1 || (result != MT_UNSUPPORTED && result != MT_NO_DATA))
        return result;
    keep_damage(list, result, error);
    if (input_is_part(list->paths[list->next_path - 1]))
        model_note(list->model, 1,
                   "files that belong to a recording, and tell nothing of memory alone; they were "
                   "left out");
    else
        model_lack(list->model, "left out: %s", error->message);
    return MT_OK;
}

/* After the damage in an input comes the next input, if what is there is wanted. */
static enum mt_result pass_over(struct input_list *list, enum mt_result result,
                                struct mt_error *error)
{
    if (!model_wants_partial(list->model) || (result != MT_CORRUPT && result != MT_IO))
        return result;
    keep_damage(list, result, error);
    model_note_damage(list->model, error);
    input_close(list->input);
    list->input = NULL;
    return MT_OK;
}

static enum mt_result open_next(struct input_list *list, struct mt_error *error)
{
    enum mt_result result;

    model_begin_input(list->model, (uint32_t)list->next_path);
    result = input_open(list->paths[list->next_path++], list->model, &list->input, error);
    if (result != MT_OK)
        result = leave_out(list, result, error);
    if (result != MT_OK)
        return pass_over(list, result, error);
    if (!list->input)
        return MT_OK;
    list->source_kind = input_kind_of(list->input)->name;
    return MT_OK;
}

static enum mt_result events_next(void *context, struct event *batch, size_t capacity,
                                  size_t *count, struct mt_error *error)
{
    struct input_list *list = context;
    enum mt_result result = MT_OK;

    *count = 0;
    while (result == MT_OK && !*count) {
        if (!list->input && list->next_path == list->path_count)
            return MT_OK;
        if (!list->input) {
            result = open_next(list, error);
            continue;
        }
        result = input_next(list->input, batch, capacity, count, error);
        if (result != MT_OK) {
            result = pass_over(list, result, error);
            *count = 0;
        } else if (!*count) {
            input_close(list->input);
            list->input = NULL;
        }
    }
    return result;
}

static enum mt_result events_rewind(void *context, struct mt_error *error)
{
    struct input_list *list = context;

    (void)error;
    model_rewind(list->model);
    input_close(list->input);
    list->input = NULL;
    list->next_path = 0;
    return MT_OK;
}

struct event_source input_list_events(struct input_list *list)
{
    return (struct event_source){list, events_rewind, events_next, NULL};
}

bool input_list_holds(const struct input_list *list, const char *path)
{
    struct stat output, input;

    if (!path || stat(path, &output) != 0)
        return false;
    for (size_t i = 0; i < list->path_count; i++)
        if (stat(list->paths[i], &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino)
            return true;
    return false;
}
