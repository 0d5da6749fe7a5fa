/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording, whatever wrote it: opened by path, recognised by content, read as events.
 *
 * Events come process by process (all of one process image, then all of the next), in time order
 * within a process; a batch never mixes two processes.
 */
#ifndef LEAKTIDE_INPUT_H
#define LEAKTIDE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "error_sentence.h"
#include "event.h"
#include "input_kinds.h"
#include "model.h"

struct input;

/*
 * MT_NOT_FOUND, MT_IO: there is no such file, or it cannot be read. MT_UNSUPPORTED: it is of no
 * known kind, or of a newer version. MT_CORRUPT: damaged beyond use. MT_NO_DATA: an empty run.
 * The model must outlive the input.
 */
enum mt_result input_open(const char *path, struct model *model, struct input **out,
                          struct mt_error *error);
enum mt_result input_next(struct input *input, struct event *batch, size_t capacity, size_t *count,
                          struct mt_error *error);
/* Whether the file belongs to a recording of several files, and tells nothing alone. */
bool input_is_part(const char *path);
const struct input_kind *input_kind_of(const struct input *input);
void input_close(struct input *input);

#endif
