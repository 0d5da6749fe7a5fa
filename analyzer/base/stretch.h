/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that grows in place: address space is reserved at the start, pages come as they are
 * needed. What is in it never moves, and an index into it is one multiplication.
 *
 * Pages read as zero at first. Large stretches ask for huge pages.
 */
#ifndef LEAKTIDE_BASE_STRETCH_H
#define LEAKTIDE_BASE_STRETCH_H

#include <stdbool.h>
#include <stddef.h>

struct stretch {
    void *base;
    size_t reserved_bytes;
    size_t usable_bytes;
};

/* Reserves this much, or less where the system sets limits. False when it gives nothing. */
bool stretch_init(struct stretch *stretch, size_t most_bytes);
/* Makes the first size_bytes usable. False when there is no memory. */
bool stretch_extend(struct stretch *stretch, size_t size_bytes);
/* Everything reads as zero again, and takes no memory. */
void stretch_clear(struct stretch *stretch);
void stretch_release(struct stretch *stretch);

#endif
