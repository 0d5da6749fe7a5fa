/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to record, read once from MEMTIDE_OPTIONS before the first event.
 *
 * MEMTIDE_OPTIONS holds options as on the command line of `memtide run`, separated by blanks; a
 * backslash takes the next character as it is: "--device=npu,cpu --output-path=/tmp/my\ run".
 */
#ifndef MEMTIDE_TRACER_CONFIG_H
#define MEMTIDE_TRACER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct config {
    bool is_forbidden;      /* setuid program, or no folder can be written: record nothing */
    bool records_host;      /* --device has cpu */
    bool records_device;    /* --device has npu, gpu or a number of one */
    bool records_launches;  /* --events has launch */
    bool records_accesses;  /* --events has access */
    bool traces_children;   /* --follow-children: forks and execs are recorded too (default) */
    bool has_host_stacks;   /* --call-stack is given: the host heap has stacks too */
    bool has_free_stacks;   /* --call-stack has free */
    uint32_t stack_frames;  /* --call-stack=c:N, default all of them; 0 = no call stacks */
    uint32_t python_frames; /* --call-stack=python:N */
    uint64_t stack_bytes;   /* --stack-memory, default 32 MiB a thread, touched as it is used */
    uint32_t sample_ms;     /* --sample-ms, default 20; 0 = no samples */
    uint64_t ring_bytes;    /* --ring-size, default 1 MiB a thread */
    uint64_t run_id;
    char output_path[1024]; /* folder of the run; made if absent */
    char text[512];         /* the options in force, for the trace */
};

/* Never fails: what is wrong is said once on stderr at --log-level=warning and left at default. */
const struct config *config_get(void);

#endif
