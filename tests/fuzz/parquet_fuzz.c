/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a table of a summary: values lie in their buffers. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parquet.h"
#include "summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum_of(const struct parquet_values *values)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < values->count; i++) {
        sum += values->known[i];
        if (values->numbers)
            sum += (uint64_t)values->numbers[i];
        for (size_t k = 0; values->texts && k < values->texts[i].size_bytes; k++)
            sum += (unsigned char)values->bytes[values->texts[i].offset + k];
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct parquet_reader *reader; /* one for all, as summaries are read */
    int descriptor = memfd_create("parquet", MFD_CLOEXEC);
    char path[64];
    uint64_t sum = 0;

    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    if (!reader && parquet_reader_create(&reader, NULL) != MT_OK)
        abort();
    if (parquet_reader_open(reader, path, NULL) == MT_OK)
        for (size_t group = 0; group < parquet_reader_group_count(reader) && group < 4; group++)
            for (size_t i = 0; i < SUMMARY_COLUMN_COUNT; i++) {
                enum parquet_kind kind;
                size_t column = parquet_reader_column(reader, summary_columns[i].name, &kind);
                struct parquet_values values;

                if (column != SIZE_MAX &&
                    parquet_reader_read(reader, group, column, &values, NULL) == MT_OK)
                    sum += sum_of(&values);
            }
    if (sum == 1) /* the bytes are really read */
        putchar(' ');
    close(descriptor);
    return 0;
}
