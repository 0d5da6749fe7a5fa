/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are there too early, too long, or for nothing in between: the definitions of
 * msmemscope, exactly, for its own files and for what we record.
 *
 * Time is counted in calls: each operator that begins is one, and so is each block taken, used or
 * given back outside of operators. Operators of PyTorch are those of its dispatcher, as that tool
 * knows no others: the nodes of autograd around them and the kernels in them are no calls, once an
 * operator has the dispatcher's name ("torch._ops."). Every process counts for itself, PyTorch's
 * pools (with their operators), ATB's and MindSpore's apart.
 *
 *   call M   the block is taken          call F   the block is first used after call M
 *   call L   it is last used             call R   it is given back
 *
 *   early_allocation    M < f < F: another block was given back at a call f in between (the last
 *                       such call counts), whose memory this one could have had
 *   late_deallocation   L < m < R: another block was taken at a call m in between (the last such
 *                       call counts), which this one's memory could have served
 *   temporary_idleness  between two uses in a row lie more calls than the threshold
 *
 * What an operator takes or gives back counts when the operator ends. A block that is never used is
 * never early or late. Where the program began and ended the recording itself, only blocks and
 * calls in between count: nobody knows how others were used.
 */
#ifndef LEAKTIDE_INEFFICIENCY_H
#define LEAKTIDE_INEFFICIENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dump_rows.h"

enum dump_inefficient { DUMP_EARLY = 1, DUMP_LATE = 2, DUMP_IDLE = 4, DUMP_INEFFICIENT_ALL = 7 };

enum { INEFFICIENCY_IDLE_DEFAULT = 3000 };

struct inefficiency;

/* NULL when there is no memory. */
struct inefficiency *inefficiency_create(uint32_t idle_threshold);
void inefficiency_destroy(struct inefficiency *inefficiency);

/*
 * One event, in the order of time; others than blocks, accesses and operators are passed over.
 * block: what tells blocks of the process apart while they live; 0 for an operator.
 * number: what the block is called in the answer. name: the operator's; NULL for others.
 * False when there is no memory.
 */
struct inefficiency_event {
    enum dump_event event;
    enum dump_pool pool;
    uint64_t process_id, block;
    uint32_t number;
    const char *name;
};
bool inefficiency_take(struct inefficiency *inefficiency, const struct inefficiency_event *event);

/* Of each block that has any: its number, and bits of enum dump_inefficient. */
size_t inefficiency_count(const struct inefficiency *inefficiency);
uint32_t inefficiency_at(const struct inefficiency *inefficiency, size_t index, uint32_t *types);

/* "early_allocation,late_deallocation" into text of INEFFICIENCY_NAMES_BYTES. */
enum { INEFFICIENCY_NAMES_BYTES = 64 };
void inefficiency_names(uint32_t types, char *text);

#endif
