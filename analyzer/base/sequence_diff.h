/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sequences side by side: which elements of one are which of the other, in order.
 *
 * The alignment has (nearly) the most matches that keep both orders. Memory is linear in both
 * lengths together. Where sequences differ so much that the best alignment would take too long, a
 * good one is taken.
 *
 * Source of the idea: E. Myers, "An O(ND) difference algorithm and its variations", Algorithmica
 * 1986, with the refinement to linear space.
 */
#ifndef LEAKTIDE_BASE_SEQUENCE_DIFF_H
#define LEAKTIDE_BASE_SEQUENCE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQUENCE_UNMATCHED UINT32_MAX

struct sequence {
    const uint32_t *tokens; /* equal elements have equal tokens; less than token_count */
    size_t count;           /* less than SEQUENCE_UNMATCHED */
};

/* matches[i] is the element of b that is a's element i, or SEQUENCE_UNMATCHED. False without
 * memory. */
bool sequence_diff(struct sequence a, struct sequence b, size_t token_count, uint32_t *matches);

#endif
