/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --watch has read, as it lies in the folder of a run (tracer/watch/tensor_dump.h):
 * watch/<pid>/device_<N>/... and watch/<pid>/trouble.txt.
 */
#ifndef LEAKTIDE_CLI_WATCH_FILES_H
#define LEAKTIDE_CLI_WATCH_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WATCH_SUMS_NAME "check_sums.csv"

struct watch_visitor {
    void *context;
    /* name: of a file in folder, of a device of a process. False ends it. */
    bool (*file)(void *context, int32_t device, const char *folder, const char *name);
    /* A sentence of the tracer, without its end of line. */
    void (*trouble)(void *context, const char *sentence);
};

/* Of a process, or with process 0 of all. Returns how many files there were. */
size_t watch_files_visit(const char *run_folder, uint64_t process,
                         const struct watch_visitor *visitor);

#endif
