/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of a recording, read one after the other as one stream of events.
 *
 * Init and release on the thread that owns the recording; in between, its source is for one reader
 * at a time, which may be the thread that reads ahead.
 */
#ifndef LEAKTIDE_RECORDING_INPUT_LIST_H
#define LEAKTIDE_RECORDING_INPUT_LIST_H

#include <stdbool.h>

#include "error_sentence.h"
#include "event_source.h"
#include "input.h"
#include "model.h"

struct input_list {
    struct model *model;     /* borrowed */
    const char *source_kind; /* of the input read last; static; "nothing" before the first */
    char **paths;
    size_t path_count;
    struct input *input; /* of paths[next_path - 1] */
    size_t next_path;
    /* The first that was passed over, or left out. */
    enum mt_result damage_result;
    struct mt_error damage;
};

/* Paths are copied. Release in either case. */
enum mt_result input_list_init(struct input_list *list, struct model *model,
                               const char *const *paths, size_t count, struct mt_error *error);
void input_list_release(struct input_list *list);
/* The list must outlive it. */
struct event_source input_list_events(struct input_list *list);
/* True when the file or folder at path is one of the inputs. */
bool input_list_holds(const struct input_list *list, const char *path);

#endif
