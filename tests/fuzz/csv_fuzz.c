/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a csv file: times never go back, and fields lie in their buffer. */
#define _GNU_SOURCE /* memfd_create */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "csv_sorted.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(struct csv_table *table)
{
    struct csv_sorted sorted;
    const struct csv_row *row;
    uint64_t time_ns, last_ns = 0, sum = 0, size_bytes;

    if (csv_sorted_open(&sorted, table, 1, 1, 2, NULL) != MT_OK)
        return;
    while (csv_sorted_next(&sorted, &row, &table, &time_ns, NULL) == MT_OK && row) {
        if (time_ns < last_ns)
            abort();
        last_ns = time_ns;
        for (size_t i = 0; i < 4; i++) {
            struct csv_field field = csv_at(table, row, i);

            for (size_t k = 0; k < field.size_bytes; k++)
                sum += (unsigned char)field.bytes[k];
            if (csv_size(field, 1024, &size_bytes) == CSV_CELL_NUMBER)
                sum += size_bytes;
        }
        sum += (uint64_t)csv_device(csv_at(table, row, 0));
    }
    if (sorted.row_count && sum == 1) /* the bytes are really read */
        putchar(' ');
    csv_sorted_close(&sorted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct csv_column columns[] = {{"Name|Component", false},
                                                {"Timestamp|Allocation Time", true},
                                                {"Release Time", false},
                                                {"Size", false}};
    int descriptor = memfd_create("csv", MFD_CLOEXEC);
    char path[64];
    struct csv_table table;

    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    if (csv_table_open(&table, path, columns, 4, NULL) == MT_OK) {
        walk(&table);
        csv_table_close(&table);
    }
    close(descriptor);
    return 0;
}
