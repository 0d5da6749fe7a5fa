/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the verdict of a gate goes.
 */
#ifndef LEAKTIDE_CLI_GATE_RESULTS_H
#define LEAKTIDE_CLI_GATE_RESULTS_H

#include "leaktide/gate.h"

enum { GATE_FORMATS_MAX = 16 };

struct gate_results {
    const char *folder;               /* NULL: all to standard output */
    bool is_wanted[GATE_FORMATS_MAX]; /* by index of mt_gate_format_at() */
    bool is_github;                   /* annotations and a summary are wanted by who runs us */
};

/*
 * formats  "text,junit", NULL: text
 * folder   NULL: standard output; then only one format for programs
 *
 * EXIT_FINE, or complains and returns the code.
 */
int gate_results_read(const char *formats, const char *folder, struct gate_results *results);
int gate_results_write(const struct gate_results *results, const struct mt_gate_verdict *verdict);

#endif
