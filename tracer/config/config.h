/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to record, read once from LEAKTIDE_OPTIONS before the first event.
 *
 * LEAKTIDE_OPTIONS holds options as on the command line of `leaktide run`, separated by blanks; a
 * backslash takes the next character as it is: "--device=npu,cpu --output-path=/tmp/my\ run".
 * It may begin with a JSON object as MS_PROFILER_OPTIONS has it: options with _ for -, and the keys
 * of control/control_wish.h: {"output_path": "/tmp/run", "start_step": 10, "stop_step": 12}.
 * Where it is not set, and the libraries are preloaded by the names that msmemscope's own scripts
 * have for them, the program's calls of that module begin the recording.
 */
#ifndef LEAKTIDE_TRACER_CONFIG_H
#define LEAKTIDE_TRACER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct config {
    bool is_forbidden;      /* setuid program, or no folder can be written: record nothing */
    bool records_host;      /* --device has cpu */
    bool records_device;    /* --device has npu, gpu or a number of one */
    bool records_launches;  /* --events has launch */
    bool records_accesses;  /* --events has access */
    bool wants_launches;    /* what --events said, whatever --level did to it */
    bool passes_operators;  /* --level has no op */
    bool passes_kernels;    /* --level has no kernel */
    bool traces_children;   /* --follow-children: forks and execs are recorded too (default) */
    bool has_host_stacks;   /* --call-stack is given: the host heap has stacks too */
    bool records_python;    /* objects of Python: wanted, and there are stacks for them */
    bool wants_python;      /* --python-objects (default) */
    bool passes_weights;    /* --weights=no: those alone that an optimizer knows, as msmemscope */
    bool wants_layers;      /* --layers: which module of the model runs, and which has a weight */
    bool has_free_stacks;   /* --call-stack has free */
    uint32_t stack_frames;  /* --call-stack=c:N, default all of them; 0 = no call stacks */
    uint32_t python_frames; /* --call-stack=python:N */
    uint64_t stack_bytes;   /* --stack-memory, default 32 MiB a thread, touched as it is used */
    bool starts_paused;     /* --collect-mode=deferred: until somebody says start */
    bool keeps_history; /* --collect-mode=history: the same, but what devices hold then is known */
    bool waits_for_script; /* --collect-mode=script: the same; the program says when and where */
    bool is_controlled;    /* --control: a socket is opened (default) */
    uint32_t sample_ms;    /* --sample-ms, default 20; 0 = no samples */
    uint64_t ring_bytes;   /* --ring-size, default 1 MiB a thread */
    uint64_t devices;      /* bit n: --device has npu:n, or no numbers at all */
    uint64_t run_id;
    int64_t rank;           /* of RANK and the like; -1: not known */
    int64_t world_size;     /* of WORLD_SIZE and the like; -1: not known */
    char output_path[1024]; /* folder of the run; made if absent */
    char watch[544];        /* --watch: which tensors are read; "": none */
    char control_file[512]; /* --control-file: watched for steps to record; "":
                                                 none */
    char text[512];         /* the options in force, for the trace */
    char json[1024];        /* LEAKTIDE_OPTIONS, where it begins as an object; "": it does not */
};

/* The same while the program runs. False: no such value, and nothing has changed. Any thread. */
bool config_set_events(const char *value);
bool config_set_level(const char *value);
/* Before the recording has begun; relative to where the process is now. */
bool config_set_output(const char *value);

/* Never fails: what is wrong is said once on stderr and left at default. */
const struct config *config_get(void);
/* NULL: nobody has read it yet. For calls that reading it may lead to. */
const struct config *config_if_read(void);

#endif
