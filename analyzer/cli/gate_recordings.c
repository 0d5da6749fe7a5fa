/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings opened, and held against a policy.
 */
#include "gate_recordings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leaktide/summaries.h"
#include "waiting.h"

static int open_traces(const struct options *options, const char *const *paths, size_t count,
                       bool are_repeats, struct judged_recordings *out)
{
    size_t wanted = are_repeats ? count : 1;
    struct mt_error error;

    out->traces = calloc(wanted, sizeof(struct mt_trace *));
    if (!out->traces)
        return complain(EXIT_INPUT, "no memory for %zu recordings", wanted);
    for (size_t i = 0; i < wanted; i++) {
        enum mt_result result =
            open_inputs(options, paths + i, are_repeats ? 1 : count, &out->traces[i], &error);

        if (result != MT_OK)
            return complain_about(result, &error);
        out->trace_count++;
    }
    return EXIT_FINE;
}

/* Of all paths, or of none. */
static int take_summaries(const struct options *options, const char *const *paths, size_t count,
                          struct mt_gate_options *gate)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += mt_summaries_are_at(paths[i]);
    if (!found)
        return EXIT_FINE;
    if (found < count)
        return complain(EXIT_USAGE, "a gate reads recordings or summaries, not both at once");
    if (count > 1 && !options->values[OPTION_TRACES])
        return complain(EXIT_USAGE, "the summaries of a run are in one folder; several folders are "
                                    "repeats of the job, with --traces");
    gate->summaries = paths;
    gate->summary_count = count;
    return EXIT_FINE;
}

int judge_recordings(const struct options *options, const char *const *paths, size_t count,
                     bool is_baseline_optional, struct judged_recordings *out)
{
    const char *policy = options->values[OPTION_POLICY];
    struct mt_gate_options gate = {
        .size_bytes = sizeof(gate),
        .policy_path = policy ? policy : "leaktide.toml",
        .baseline_path = options->values[OPTION_BASELINE],
        .suppressions_path = options->values[OPTION_SUPPRESSIONS],
        .is_baseline_optional = is_baseline_optional,
    };
    struct mt_error error;
    enum mt_result result;
    int code;

    memset(out, 0, sizeof(*out));
    code = take_summaries(options, paths, count, &gate);
    if (code == EXIT_FINE && !gate.summary_count)
        code = open_traces(options, paths, count, options->values[OPTION_TRACES] != NULL, out);
    if (code != EXIT_FINE)
        return code;
    result = mt_gate_judge(&gate, out->traces, out->trace_count, &out->verdict, &error);
    waiting_end();
    if (result == MT_NOT_FOUND && !policy && access(gate.policy_path, F_OK) != 0)
        return complain(EXIT_USAGE, "%s; name the policy with --policy", error.message);
    return result == MT_OK ? EXIT_FINE : complain_about(result, &error);
}

void judged_recordings_close(struct judged_recordings *judged)
{
    mt_gate_close(judged->verdict);
    for (size_t i = 0; i < judged->trace_count; i++)
        mt_trace_close(judged->traces[i]);
    free(judged->traces);
}

int exit_code_of_gate(enum mt_gate_outcome outcome)
{
    static const enum exit_code codes[] = {
        [MT_GATE_PASSED] = EXIT_FINE,
        [MT_GATE_FAILED] = EXIT_FOUND,
        [MT_GATE_INCOMPLETE] = EXIT_INPUT,
        [MT_GATE_UNSURE] = EXIT_NO_DATA,
    };

    return codes[outcome];
}
