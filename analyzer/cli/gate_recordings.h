/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From paths and options to a judged budget: what gate, bless, suppress and run have in common.
 */
#ifndef LEAKTIDE_CLI_GATE_RECORDINGS_H
#define LEAKTIDE_CLI_GATE_RECORDINGS_H

#include "commands.h"
#include "leaktide/gate.h"

struct judged_recordings {
    struct mt_trace **traces;
    size_t trace_count;
    struct mt_gate_verdict *verdict;
};

/* Rows of the table of options that all of them have. */
// clang-format off
#define GATE_OPTIONS                                                                               \
    {OPTION_POLICY, 'p', "policy", "FILE", "the limits (leaktide.toml)"},                           \
    {OPTION_BASELINE, 'b', "baseline", "PATH", "what was agreed to (the one the policy names); a folder: its last good runs"}, \
    {OPTION_SUPPRESSIONS, 0, "suppressions", "FILE", "known leaks (the one the policy names)"},    \
    {OPTION_TRACES, 0, "traces", NULL, "each INPUT is a recording of the same job: repeats"}
// clang-format on

/*
 * EXIT_FINE, or complains and returns the code. Without --traces all inputs are one recording.
 * Close in either case.
 */
int judge_recordings(const struct options *options, const char *const *paths, size_t count,
                     bool is_baseline_optional, struct judged_recordings *out);
void judged_recordings_close(struct judged_recordings *judged);

int exit_code_of_gate(enum mt_gate_outcome outcome);

#endif
