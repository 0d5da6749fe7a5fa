/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process of a recording as the files of msleaks or msmemscope, one for each device, and what
 * the tool prints at the end of it.
 *
 * The rows are those of memscope_events.h; here they are chosen, numbered, and given what the
 * tool's analyses add. Numbers and allocation ids count what is collected, as there. Memory grows
 * with live blocks; with the analyses decompose and inefficient by a byte for each allocation, and
 * the recording is then read twice.
 */
#ifndef LEAKTIDE_DUMP_WRITE_H
#define LEAKTIDE_DUMP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "leaktide/analyzer.h"

/* Bits as config.json of the tool has them. */
enum dump_event_bit {
    DUMP_BIT_ALLOC = 1,
    DUMP_BIT_FREE = 2,
    DUMP_BIT_LAUNCH = 4,
    DUMP_BIT_ACCESS = 8,
    DUMP_BIT_TRACEBACK = 16
};
enum dump_analysis_bit {
    DUMP_BIT_LEAKS = 1,
    DUMP_BIT_DECOMPOSE = 2,
    DUMP_BIT_INEFFICIENT = 4,
    DUMP_BIT_OOM = 8,
    DUMP_BIT_HOST_LEAKS = 16
};
enum dump_level_bit { DUMP_BIT_OP = 1, DUMP_BIT_KERNEL = 2 };

enum { DUMP_DEVICE_CPU = -2, DUMP_DEVICES = 32, DUMP_PATH_BYTES = 4096 };

struct dump_write {
    uint32_t events;           /* to be written */
    uint32_t collected_events; /* which count when rows are numbered */
    uint32_t levels, analyses;
    uint32_t oom_top;
    const uint32_t *steps; /* only these; NULL: all */
    size_t step_count;
    bool has_all_devices, has_cpu;
    uint32_t devices; /* bit per device */
    bool is_database;
    bool has_c_stacks, has_python_stacks;
    uint32_t c_depth, python_depth; /* frames of a stack, innermost first */
    bool is_strict;                 /* with the known errors of the tool */
    const char *table;              /* "memscope_dump" */
    /* A new, empty file for a device; DUMP_DEVICE_CPU is the host. */
    void *context;
    enum mt_result (*file_make)(void *context, int32_t device, char *path, struct mt_error *error);
};

struct dump_facts {
    uint64_t row_count;
    size_t file_count;
    size_t leak_count; /* by the tool's own rule */
};

/* text: gets what the tool prints at the end; NULL: nowhere. */
enum mt_result dump_write(struct mt_trace *trace, const struct dump_write *what, FILE *text,
                          struct dump_facts *facts, struct mt_error *error);

#endif
