/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program under the tracer and stays beside it until it ends.
 */
#ifndef LEAKTIDE_CLI_LAUNCH_H
#define LEAKTIDE_CLI_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "error_sentence.h"
#include "leaktide/preload.h"

struct consumer_care;

struct launch {
    char **arguments;               /* program and arguments; ends with NULL */
    const char *tracer;             /* the library to preload, ... */
    struct mt_program_needs needs;  /* ... unless it cannot live in the program */
    const char *layer;              /* the OpenCL layer, or NULL */
    const char *options;            /* LEAKTIDE_OPTIONS */
    struct consumer_care *consumer; /* looked after meanwhile; NULL: none */
    /* Called every PROGRESS_MS while the program runs; NULL: never. */
    void (*progress)(void *context);
    void *context;
};

enum { PROGRESS_MS = 200 };

/* How the program ended. */
struct launch_end {
    int status;      /* as the caller's exit status: its own, or 128 + the signal that ended it */
    int wait_status; /* as waitpid told it */
    uint32_t process_id; /* 0: it was not waited for */
    int start_errno;     /* not 0: it could not be started */
};

enum mt_result launch_and_wait(const struct launch *launch, struct launch_end *end,
                               struct mt_error *error);

#endif
