/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one sequence of names becomes another, with the fewest names dropped and added.
 *
 * Of equally short ways, up to NAME_DIFF_FORWARD_MOST differences, it is the one that a forward
 * search finds, as msmemscope does; beyond, the one of sequence_diff().
 *
 * Source: E. Myers, "An O(ND) difference algorithm and its variations", 1986.
 */
#ifndef MEMTIDE_NAME_DIFF_H
#define MEMTIDE_NAME_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NAME_DIFF_FORWARD_MOST = 2048 };

/* One of them may be NAME_DIFF_NONE: the name is only in the other. */
struct name_pair {
    uint32_t base, other; /* indexes */
};
#define NAME_DIFF_NONE UINT32_MAX

/*
 * Names are small numbers: memory grows with the largest. pairs: room for base_count + other_count;
 * *pair_count of them are written, in order. False when there is no memory.
 */
bool name_diff(const uint32_t *base, size_t base_count, const uint32_t *other, size_t other_count,
               struct name_pair *pairs, size_t *pair_count);

#endif
