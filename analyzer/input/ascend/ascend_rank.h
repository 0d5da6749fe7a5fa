/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank: its files opened, as streams. A rank is a process of the model.
 */
#ifndef LEAKTIDE_ASCEND_RANK_H
#define LEAKTIDE_ASCEND_RANK_H

#include "ascend_folder.h"
#include "ascend_replay.h"
#include "ascend_stream.h"

struct ascend_rank_files {
    struct ascend_rank facts;
    uint64_t *workspace_times;
    struct ascend_stream streams[ASCEND_STREAMS_MAX];
    size_t stream_count;
    uint64_t first_ns, last_ns;
    int32_t last_rank; /* when nothing better tells the rank; -1: not known */
    bool is_plan;      /* numbers of nodes, or ticks, instead of times */
    struct model_process process;
    /* Files that could not be read are left out. */
    enum mt_result first_bad_result;
    struct mt_error first_bad;
    uint64_t bad_count;
};

/*
 * Opens what the search found. Files that cannot be read are counted; without any that can, there
 * are no streams. The struct must not move afterwards. MT_NO_MEMORY.
 */
enum mt_result ascend_rank_open(struct ascend_rank_files *rank, struct model *model,
                                const struct ascend_found *found, struct mt_error *error);
/* The same for files that count nodes or ticks, not time, and are processes of their own: kind is
 * ASCEND_STATIC_OP_MEM or ASCEND_MEMORY_BLOCK. */
enum mt_result ascend_plan_open(struct ascend_rank_files *rank, struct model *model,
                                const struct ascend_found *found, enum ascend_file kind,
                                struct mt_error *error);
void ascend_rank_close(struct ascend_rank_files *rank);

#endif
