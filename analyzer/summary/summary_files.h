/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary on disk: a folder with a file of Parquet for each table, of one rank or of many.
 *
 *   SUMMARIES/rank-00003-5f1c22ab/ranks.parquet, ledgers.parquet, sites.parquet ...
 *
 * It is written beside its place under another name, and moved there when it is whole: a folder
 * with a name in between is what a killed task left.
 */
#ifndef LEAKTIDE_SUMMARY_FILES_H
#define LEAKTIDE_SUMMARY_FILES_H

#include "summary.h"

/* In the name of a folder that is not whole, before the number of the process. */
#define SUMMARY_PARTIAL ".partial-"

/*
 * Replaces a summary that is there. MT_USAGE: something else is there, or it cannot be written;
 * MT_NO_MEMORY.
 */
enum mt_result summary_write(const struct summary *summary, const char *folder,
                             struct mt_error *error);

/* Whether the path is a folder that holds one, whole or torn. */
bool summary_is_folder(const char *path);

/* Reads many, one after the other. */
struct summary_reader;
enum mt_result summary_reader_create(struct summary_reader **out, struct mt_error *error);
void summary_reader_destroy(struct summary_reader *reader);

/*
 * Adds the rows of a folder, without columns that are left out and tables of which all are.
 * Whatever fails, the summary then has the rows that it had. MT_NOT_FOUND: a table is missing;
 * MT_CORRUPT: cut or damaged; MT_UNSUPPORTED: of another version; MT_IO; MT_NO_MEMORY.
 */
enum mt_result summary_read(struct summary_reader *reader, const char *folder,
                            struct summary *summary, struct mt_error *error);

/* Folders by name. */
struct summary_folders {
    const char **paths;
    size_t count, capacity;
    const char **unfinished; /* that a killed task left */
    size_t unfinished_count, unfinished_capacity;
    struct arena arena;
};

/* The path itself, else what is in it and in its folders. MT_IO: it cannot be read; MT_NO_MEMORY.
 */
enum mt_result summary_folders_find(const char *path, struct summary_folders *folders,
                                    struct mt_error *error);
void summary_folders_init(struct summary_folders *folders);
void summary_folders_release(struct summary_folders *folders);
/* Those of several paths by name: which of two of one process is first does not hang on the order
 * in which paths are given. */
void summary_folders_sort(struct summary_folders *folders);

#endif
