/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are left when the process ends: msmemscope frees each on paper, those of the
 * frameworks first, those of the driver last, otherwise in the order in which they were taken.
 */
#ifndef LEAKTIDE_DUMP_SHADOWS_H
#define LEAKTIDE_DUMP_SHADOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memscope_writer.h"

struct dump_shadow {
    uint64_t allocation, address, size_bytes, time_ns, process_id, thread_id;
    int32_t device;
    uint32_t type; /* index of a known type */
};

struct dump_shadows {
    struct dump_shadow *rows;
    size_t count, capacity;
};

/* The same text, static; NULL when the tool does not know this pool. */
const char *dump_type_known(const char *type);

/* False when there is no memory. */
bool dump_shadows_add(struct dump_shadows *shadows, const struct memscope_row *row);
void dump_shadows_sort(struct dump_shadows *shadows);
struct memscope_row dump_shadow_row(const struct dump_shadow *shadow);

#endif
