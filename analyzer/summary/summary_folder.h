/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder that is there whole or not at all.
 */
#ifndef LEAKTIDE_SUMMARY_FOLDER_H
#define LEAKTIDE_SUMMARY_FOLDER_H

#include "error_sentence.h"
#include "text_builder.h"

struct summary_place {
    struct text_builder place, partial, former;
};

/* MT_USAGE: it cannot be made, or what is there is no summary. */
enum mt_result summary_place_begin(struct summary_place *place, const char *folder,
                                   struct mt_error *error);
/* Where to write. */
const char *summary_place_path(const struct summary_place *place);
/* result: of the writing. Moves the folder to its place, or removes it. */
enum mt_result summary_place_end(struct summary_place *place, enum mt_result result,
                                 struct mt_error *error);

#endif
