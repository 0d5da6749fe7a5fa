/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_memory.csv, memory_record.csv and npu_module_mem.csv, from the tables of a rank.
 */
#ifndef LEAKTIDE_ASCEND_CSV_WRITER_H
#define LEAKTIDE_ASCEND_CSV_WRITER_H

#include <stdbool.h>

#include "database_writer.h"

/* Files without a row are left out, as the profilers do. name is for sentences. */
enum mt_result ascend_csv_write(struct database_writer *tables, const char *folder,
                                const char *name, bool is_mindspore, struct mt_error *error);

#endif
