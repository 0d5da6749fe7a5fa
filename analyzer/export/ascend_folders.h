/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folders of profiles: one for each process, and which of them is that of a rank.
 */
#ifndef LEAKTIDE_ASCEND_FOLDERS_H
#define LEAKTIDE_ASCEND_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"
#include "model.h"

struct ascend_folders {
    const char *path, *name; /* what all lie in: to write, and for messages; borrowed */
    struct ascend_folder *rows;
    size_t count, capacity;
};

struct ascend_folder_stamp {
    uint64_t first_ns; /* since 1970 */
    uint16_t process;  /* stands for the rank where there is none */
    bool is_mindspore;
};

/* Makes OUT/rank0_4711_20250109144402123_ascend_pt; *folder is borrowed until the release. */
enum mt_result ascend_folders_make(struct ascend_folders *folders,
                                   const struct model_process *process,
                                   const struct ascend_folder_stamp *stamp, const char **folder,
                                   struct mt_error *error);
/* That of the same source and rank; NULL: none was made. */
const char *ascend_folders_find(const struct ascend_folders *folders,
                                const struct model_process *process);
void ascend_folders_release(struct ascend_folders *folders);

#endif
