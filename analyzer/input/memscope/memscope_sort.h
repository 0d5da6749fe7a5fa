/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a memscope recording in the order process, time.
 */
#ifndef LEAKTIDE_INPUT_MEMSCOPE_SORT_H
#define LEAKTIDE_INPUT_MEMSCOPE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memscope_record {
    uint64_t time_ns;
    uint64_t address, value;
    uint64_t total; /* of the pool + 1; 0: not known */
    uint32_t id, text, site, thread;
    uint16_t process, pool, place;
    uint8_t kind; /* enum event_kind, or one of the reader's own */
    bool is_system;
};

struct memscope_order {
    const struct memscope_record *records;
    uint32_t *indexes; /* NULL: they are in order */
};

/* Equal times keep the order of the records. False when there is no memory. */
bool memscope_order_make(struct memscope_order *order, const struct memscope_record *records,
                         size_t count);
void memscope_order_release(struct memscope_order *order);

static inline const struct memscope_record *memscope_order_at(const struct memscope_order *order,
                                                              size_t index)
{
    return &order->records[order->indexes ? order->indexes[index] : index];
}

#endif
