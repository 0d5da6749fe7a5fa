/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a control file, or MS_PROFILER_OPTIONS, asks for: keys of the profilers' own
 * profiler_config.json.
 *
 *   start_step, stop_step   first and last step to record
 *   warmup, active          steps to skip from start_step on; steps to record after them
 *   rank_list               only these ranks record; is_rank false: all
 *   profile_memory          false: nothing is recorded
 *   start                   false: wait (MS_PROFILER_OPTIONS)
 */
#ifndef LEAKTIDE_TRACER_CONTROL_WISH_H
#define LEAKTIDE_TRACER_CONTROL_WISH_H

#include <stdbool.h>
#include <stdint.h>

struct control_wish {
    bool is_wanted;                 /* this process is to record at all */
    uint64_t first_step, last_step; /* 0: no limit, both */
};

/* rank: -1 when it is not known, which is in no list. */
struct control_wish control_wish_read(const char *json, int64_t rank);

#endif
