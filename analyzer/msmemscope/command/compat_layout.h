/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where msleaks and msmemscope put their files, and what they call them.
 *
 *   flat      leaksDumpResults/dump/leaks_dump_<time>.csv            msleaks up to CANN 8.3
 *   process   <folder>/msmemscope_<pid>_<time>_ascend/               the last msleaks, msmemscope
 *               config.json
 *               device_<N>/dump/memscope_dump_<time>.csv
 *               compare/memory_compare_<time>.csv
 *
 * Folders are 0750, files 0600. Nothing is written over: a name that is taken gets a later second.
 */
#ifndef LEAKTIDE_CLI_COMPAT_LAYOUT_H
#define LEAKTIDE_CLI_COMPAT_LAYOUT_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "compat_request.h"

/* The files of one process. */
struct compat_place {
    const struct compat_request *request;
    uint64_t process_id;
    time_t time; /* of its start */
    char folder[PATH_MAX];
};

/* "20260131235959" */
enum { COMPAT_STAMP_BYTES = 16 };
void compat_stamp(time_t time, char *stamp);

/* Makes the folder of the process. MT_IO, MT_USAGE. */
enum mt_result compat_place_make(struct compat_place *place, const struct compat_request *request,
                                 uint64_t process_id, time_t time, struct mt_error *error);

/* The folder <folder>/<sub>, made where it is absent; sub as below. path has room for PATH_MAX. */
enum mt_result compat_folder_make(const struct compat_place *place, const char *sub, char *path,
                                  struct mt_error *error);

/*
 * A new file <folder>/<sub>/<name>_<time><ending>; sub may be "" and is made. *path gets its name.
 * In the flat layout, what `sub` says of the device is left out.
 */
enum mt_result compat_file_make(const struct compat_place *place, const char *sub, const char *name,
                                const char *ending, char *path, struct mt_error *error);

/* The same as a stream. */
enum mt_result compat_file_open(const struct compat_place *place, const char *sub, const char *name,
                                const char *ending, char *path, FILE **out, struct mt_error *error);

/* Removes the file again, and what folders of the place that leaves empty. */
void compat_file_drop(const struct compat_place *place, const char *path);

enum mt_result compat_folders_make(const char *path, struct mt_error *error);

#endif
