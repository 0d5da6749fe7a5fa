/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiler_info*.json and profiler_metadata.json: which rank, which software.
 */
#ifndef LEAKTIDE_ASCEND_INFO_H
#define LEAKTIDE_ASCEND_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

struct ascend_info {
    int32_t rank;          /* -1: not known */
    int32_t metadata_rank; /* of profiler_metadata.json, which is trusted less */
    bool is_mindspore;
    char software[128]; /* "torch_npu 2.7.1, CANN 8.3.RC1"; "" */
};

/* Files that are missing or damaged tell nothing; damage becomes a note. */
void ascend_info_read(struct model *model, const char *folder, struct ascend_info *info);

#endif
