/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A radix sort, digit by digit from the last: as many passes as the recording is long.
 */
#include "memscope_sort.h"

#include <stdlib.h>
#include <string.h>

enum { digit_bits = 11, digit_count = 1 << digit_bits };

struct keyed {
    uint64_t time_ns;
    uint32_t index;
    uint16_t process;
};

static bool is_sorted(const struct memscope_record *records, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (records[i].process < records[i - 1].process ||
            (records[i].process == records[i - 1].process &&
             records[i].time_ns < records[i - 1].time_ns))
            return false;
    return true;
}

/* From one array to the other, by the digit at shift. */
static void pass(const struct keyed *from, struct keyed *to, size_t count, unsigned shift)
{
    static const uint64_t mask = digit_count - 1;
    size_t starts[digit_count] = {0}, next = 0;

    for (size_t i = 0; i < count; i++)
        starts[from[i].time_ns >> shift & mask]++;
    for (size_t d = 0; d < digit_count; d++) {
        size_t size = starts[d];

        starts[d] = next;
        next += size;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[from[i].time_ns >> shift & mask]++] = from[i];
}

static void sort_by_time(struct keyed **rows, struct keyed **spare, size_t count,
                         uint64_t longest_ns)
{
    for (unsigned shift = 0; shift < 64 && longest_ns >> shift; shift += digit_bits) {
        struct keyed *sorted = *spare;

        pass(*rows, sorted, count, shift);
        *spare = *rows;
        *rows = sorted;
    }
}

/* By process, which keeps the order of time within each; false when there is no memory. */
static bool gather(const struct keyed *rows, size_t count, uint32_t *indexes)
{
    size_t *starts = calloc(UINT16_MAX + 1, sizeof(*starts)), next = 0;

    if (!starts)
        return false;
    for (size_t i = 0; i < count; i++)
        starts[rows[i].process]++;
    for (size_t process = 0; process <= UINT16_MAX; process++) {
        size_t size = starts[process];

        starts[process] = next;
        next += size;
    }
    for (size_t i = 0; i < count; i++)
        indexes[starts[rows[i].process]++] = rows[i].index;
    free(starts);
    return true;
}

bool memscope_order_make(struct memscope_order *order, const struct memscope_record *records,
                         size_t count)
{
    struct keyed *rows, *spare;
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    bool is_good;

    *order = (struct memscope_order){.records = records};
    if (is_sorted(records, count))
        return true;
    rows = malloc(count * sizeof(*rows));
    spare = malloc(count * sizeof(*spare));
    order->indexes = malloc(count * sizeof(*order->indexes));
    if (!rows || !spare || !order->indexes) {
        free(rows);
        free(spare);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        first_ns = records[i].time_ns < first_ns ? records[i].time_ns : first_ns;
        last_ns = records[i].time_ns > last_ns ? records[i].time_ns : last_ns;
    }
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct keyed){records[i].time_ns - first_ns, (uint32_t)i, records[i].process};
    sort_by_time(&rows, &spare, count, last_ns - first_ns);
    is_good = gather(rows, count, order->indexes);
    free(rows);
    free(spare);
    return is_good;
}

void memscope_order_release(struct memscope_order *order)
{
    free(order->indexes);
    order->indexes = NULL;
}
