/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files of a folder belong to which rank.
 *
 *   run/                              several ranks side by side
 *     host_4711_20250109_ascend_pt/   one rank: profiler_info_0.json, profiler_metadata.json
 *       ASCEND_PROFILER_OUTPUT/       its files: *.csv, *.db, trace_view.json
 *
 * A folder holds the files of one rank, or of several whose names end in the rank. Slices
 * (operator_memory_slice_1_20260101000000.csv) belong together; where a run was parsed twice, the
 * files with the newest time are taken. A csv file whose name says nothing is known by its header;
 * what else its name says, as " (1)" or "rank0_", tells which files belong together.
 */
#ifndef LEAKTIDE_ASCEND_FOLDER_H
#define LEAKTIDE_ASCEND_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error_sentence.h"

enum ascend_file {
    ASCEND_OPERATOR_MEMORY,
    ASCEND_MEMORY_RECORD,
    ASCEND_MODULE_MEM,
    ASCEND_NPU_MEM,
    ASCEND_STATIC_OP_MEM,
    ASCEND_MEMORY_BLOCK,
    ASCEND_STEP_TRACE,
    ASCEND_KERNEL_DETAILS,
    ASCEND_TRACE_VIEW,
    ASCEND_MSPROF_TX,
    ASCEND_DATABASE,
    ASCEND_FILE_KINDS
};

struct ascend_file_list {
    char **paths;
    size_t count, capacity;
};

struct ascend_found {
    char *folder; /* of the files */
    char *root;   /* of the rank: where profiler_info is */
    char *name;   /* what people call it: the root, or a file that is alone */
    char *label;  /* what unusual names of its files have in common; NULL: they are usual */
    int32_t rank; /* from file names; -1: not known */
    struct ascend_file_list files[ASCEND_FILE_KINDS];
    size_t older_count; /* files left out because newer ones are there */
    size_t copy_count;  /* files left out because one of their kind has its usual name */
};

struct ascend_search {
    struct ascend_found *ranks;
    size_t count, capacity;
};

/*
 * path is a folder. Finds nothing where nothing is: count 0.
 * MT_NO_MEMORY.
 */
enum mt_result ascend_search(const char *path, struct ascend_search *search,
                             struct mt_error *error);
/* One file of a known kind, as if it were alone in its folder. */
enum mt_result ascend_search_file(const char *path, enum ascend_file kind,
                                  struct ascend_search *search, struct mt_error *error);
void ascend_search_release(struct ascend_search *search);

/* Whether it is stem[_slice_N][_RANK][_TIME]end. */
bool ascend_is_named(const char *name, const char *stem, const char *end);
/* The folder of what a parser wrote. */
bool ascend_is_output_folder(const char *name);

/* Whether any of the files tells of memory. */
bool ascend_has_memory(const struct ascend_found *found);

#endif
