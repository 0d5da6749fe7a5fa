/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two forms of file that msleaks and msmemscope write.
 */
#ifndef MEMTIDE_INPUT_MEMSCOPE_FILES_H
#define MEMTIDE_INPUT_MEMSCOPE_FILES_H

#include "memscope_rows.h"

/* 1 if the first bytes of a file are a header of theirs. */
int memscope_csv_recognises(const char *path);
/* 1 if the database has their table. */
int memscope_db_recognises(const char *path);

/* All rows of a file. Rows that make no sense are counted in a note of the model. */
enum mt_result memscope_csv_read(const char *path, struct model *model, struct memscope_rows *rows,
                                 struct mt_error *error);
enum mt_result memscope_db_read(const char *path, struct model *model, struct memscope_rows *rows,
                                struct mt_error *error);

#endif
