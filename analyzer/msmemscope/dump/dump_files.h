/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of one process, one for each device, made when their first row comes.
 *
 * Rows of no device are kept, and stand last in the file of each.
 */
#ifndef LEAKTIDE_DUMP_FILES_H
#define LEAKTIDE_DUMP_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dump_write.h"
#include "memscope_writer.h"
#include "text_builder.h"

struct dump_file {
    int32_t device;
    FILE *out; /* csv */
    struct outlet *text;
    struct memscope_writer *writer;
};

struct dump_files {
    const struct dump_write *what;
    struct dump_file *files;
    size_t count, capacity;
    struct memscope_row *system_rows; /* for the end of every file */
    size_t system_count, system_capacity;
    struct text_builder python_stack, c_stack; /* cut to the depth that was asked for */
};

void dump_files_init(struct dump_files *files, const struct dump_write *what);
void dump_files_release(struct dump_files *files);

/* The row, with what of its stacks was asked for. */
enum mt_result dump_files_write(struct dump_files *files, const struct memscope_row *row,
                                struct mt_error *error);
/* Whatever went before: writes what is left, where that was MT_OK, and closes. */
enum mt_result dump_files_close(struct dump_files *files, enum mt_result result,
                                struct mt_error *error);

#endif
