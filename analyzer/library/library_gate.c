/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements leaktide/gate.h.
 */
#include "leaktide/gate.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "callback_file.h"
#include "gate_explain.h"
#include "gate_runs.h"
#include "gate_writers.h"
#include "judge.h"
#include "library_answer.h"
#include "memory_failures.h"
#include "rank_judged.h"
#include "report_writers.h"
#include "taken_options.h"
#include "trace_question.h"

/* Of summaries that are judged, one run. */
struct gate_run {
    struct rank_run rows;
    const char *missing;
};

struct mt_gate_verdict {
    struct arena arena;
    struct gate_run *runs;
    size_t run_count;
    char baseline_path[PATH_MAX]; /* "" when none is named */
    struct policy *policy;
    struct baseline_file *baseline;
    struct suppressions *suppressions;
    struct recording *recordings;
    struct gate gate;
    struct gate_verdict *verdict;
};

/* Files that a policy names are looked for beside it. */
static const char *path_beside(const char *policy_path, const char *path, char *room, size_t size)
{
    const char *slash = strrchr(policy_path, '/');

    if (*path == '/' || !slash)
        return path;
    snprintf(room, size, "%.*s/%s", (int)(slash - policy_path), policy_path, path);
    return room;
}

/* A folder is of runs. */
static enum mt_result open_baseline(struct mt_gate_verdict *gate,
                                    const struct mt_gate_options *options, struct mt_error *error)
{
    struct stat status;

    if (stat(gate->baseline_path, &status) == 0 && S_ISDIR(status.st_mode))
        return gate_baseline_of_runs(gate->baseline_path, (size_t)gate->policy->baseline_runs_most,
                                     options->summaries, options->summary_count, &gate->baseline,
                                     error);
    return baseline_open(gate->baseline_path, &gate->baseline, error);
}

static enum mt_result open_files(struct mt_gate_verdict *gate,
                                 const struct mt_gate_options *options, struct mt_error *error)
{
    char room[PATH_MAX];
    const char *baseline, *suppressions;
    enum mt_result result = policy_open(options->policy_path, &gate->policy, error);

    if (result != MT_OK)
        return result;
    baseline = options->baseline_path;
    if (!baseline && gate->policy->baseline_path)
        baseline =
            path_beside(options->policy_path, gate->policy->baseline_path, room, sizeof(room));
    if (baseline) {
        snprintf(gate->baseline_path, sizeof(gate->baseline_path), "%s", baseline);
        result = open_baseline(gate, options, error);
    }
    /* A baseline that only the policy names may be missing: rules that need it report that. */
    if (result == MT_NOT_FOUND && (options->is_baseline_optional || !options->baseline_path))
        result = MT_OK;
    suppressions = options->suppressions_path;
    if (!suppressions && gate->policy->suppressions_path)
        suppressions =
            path_beside(options->policy_path, gate->policy->suppressions_path, room, sizeof(room));
    if (result == MT_OK && suppressions)
        result = suppressions_open(suppressions, &gate->suppressions, error);
    return result;
}

static enum mt_result take_summaries(struct mt_gate_verdict *gate, const char *const *paths,
                                     size_t count, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    gate->runs = calloc(count, sizeof(*gate->runs));
    if (!gate->runs)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to judge");
    for (; result == MT_OK && gate->run_count < count; gate->run_count++) {
        struct gate_run *run = &gate->runs[gate->run_count];
        struct rank_judged judged;

        result = gate_run_read(&run->rows, paths[gate->run_count], error);
        run->missing = rank_run_missing(&run->rows, &gate->arena);
        judged = rank_find_judged(&run->rows.set);
        gate->recordings[gate->run_count] = (struct recording){
            .summary = &run->rows.set.summary,
            .missing = run->missing ? run->missing : "",
            .is_complete = !run->missing,
            .judged_count = judged.judged_count,
            .unjudged = rank_judged_words(&run->rows.set, &judged, &gate->arena),
            .path = arena_copy(&gate->arena, paths[gate->run_count]),
        };
    }
    return result;
}

static enum mt_result take_recordings(struct mt_gate_verdict *gate, struct mt_trace *const *traces,
                                      size_t count, struct mt_error *error)
{
    for (size_t i = 0; i < count; i++) {
        enum mt_result result = trace_allows(traces[i], NULL, false, error);

        if (result != MT_OK)
            return result;
        gate->recordings[i] = (struct recording){
            .question = trace_question(traces[i]),
            .is_complete = trace_is_complete(traces[i]),
            .path = trace_path(traces[i]),
        };
        if (gate->policy->require.warm_up_steps >= 0)
            gate->recordings[i].question.warm_up_steps = gate->policy->require.warm_up_steps;
    }
    return MT_OK;
}

static enum mt_result judge(struct mt_gate_verdict *gate, const struct mt_gate_options *options,
                            struct mt_trace *const *traces, size_t count, struct mt_error *error)
{
    size_t recording_count = count + options->summary_count;
    enum mt_result result = MT_OK;

    gate->recordings = calloc(recording_count, sizeof(*gate->recordings));
    if (!gate->recordings)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to judge");
    gate->gate = (struct gate){.policy = gate->policy,
                               .baseline = gate->baseline,
                               .suppressions = gate->suppressions,
                               .recordings = gate->recordings,
                               .recording_count = recording_count};
    if (options->summary_count)
        result = take_summaries(gate, options->summaries, options->summary_count, error);
    else
        result = take_recordings(gate, traces, count, error);
    for (size_t i = 0; i < count; i++)
        trace_begin(traces[i]);
    if (result == MT_OK)
        result = gate_judge(&gate->gate, &gate->verdict, error);
    for (size_t i = 0; i < count; i++)
        result = trace_end(traces[i], result, error);
    return result;
}

/* The files are open then. */
static enum mt_result gate_open(const struct mt_gate_options *options, struct mt_gate_verdict **out,
                                struct mt_error *error)
{
    struct mt_gate_verdict *gate;
    enum mt_result result;

    if (!options->policy_path)
        return mt_error_of(error, "policy_path",
                           mt_error_set(error, MT_USAGE, "a gate needs a policy"));
    gate = calloc(1, sizeof(*gate));
    if (!gate)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to judge");
    arena_init(&gate->arena);
    result = open_files(gate, options, error);
    if (result != MT_OK) {
        mt_gate_close(gate);
        return result;
    }
    *out = gate;
    return MT_OK;
}

enum mt_result mt_gate_judge(const struct mt_gate_options *options, struct mt_trace *const *traces,
                             size_t count, struct mt_gate_verdict **out, struct mt_error *error)
{
    struct mt_gate_options whole = {.size_bytes = sizeof(whole)};
    size_t memory_failures = memory_failure_count();
    struct mt_gate_verdict *gate = NULL;
    enum mt_result result = options_take(&whole, sizeof(whole), options, error);

    if (result != MT_OK)
        return result;
    if (!count == !whole.summary_count)
        return mt_error_set(error, MT_USAGE, "a gate needs a recording, or summaries");
    result = gate_open(&whole, &gate, error);
    if (result != MT_OK)
        return result;
    result = judge(gate, &whole, traces, count, error);
    if (result == MT_OK)
        result = memory_status(memory_failures, error);
    if (result != MT_OK) {
        mt_gate_close(gate);
        return result;
    }
    *out = gate;
    return MT_OK;
}

void mt_gate_close(struct mt_gate_verdict *gate)
{
    if (!gate)
        return;
    gate_verdict_destroy(gate->verdict);
    suppressions_close(gate->suppressions);
    baseline_close(gate->baseline);
    policy_close(gate->policy);
    for (size_t i = 0; i < gate->run_count; i++)
        rank_run_release(&gate->runs[i].rows);
    free(gate->runs);
    arena_release(&gate->arena);
    free(gate->recordings);
    free(gate);
}

enum mt_result mt_gate_check(const struct mt_gate_options *options, struct mt_error *error)
{
    struct mt_gate_options whole = {.size_bytes = sizeof(whole)};
    struct mt_gate_verdict *gate = NULL;
    enum mt_result result = options_take(&whole, sizeof(whole), options, error);

    if (result == MT_OK)
        result = gate_open(&whole, &gate, error);
    mt_gate_close(gate);
    return result;
}

bool mt_gate_is_complete(const struct mt_gate_verdict *gate)
{
    for (size_t i = 0; i < gate->gate.recording_count; i++)
        if (!gate->recordings[i].is_complete)
            return false;
    return true;
}

size_t mt_gate_remark_count(const struct mt_gate_verdict *gate)
{
    return gate->verdict->counts[CASE_REMARK];
}

enum mt_gate_outcome mt_gate_outcome(const struct mt_gate_verdict *gate)
{
    switch (gate_worst(gate->verdict)) {
    case CASE_FAILED:
        return MT_GATE_FAILED;
    case CASE_INCOMPLETE:
        return MT_GATE_INCOMPLETE;
    case CASE_UNSURE:
        return MT_GATE_UNSURE;
    default:
        return MT_GATE_PASSED;
    }
}

/* Takes the outlet. */
static enum mt_result finish(struct outlet *outlet, FILE *out, struct mt_error *error)
{
    bool is_written = outlet_destroy(outlet) && fflush(out) == 0;

    if (is_written)
        return MT_OK;
    return mt_error_set(error, MT_IO, "the verdict cannot be written: %s", strerror(errno));
}

enum mt_result mt_gate_write_with(const struct mt_gate_verdict *gate, const char *format,
                                  const struct mt_write_options *options, FILE *out,
                                  struct mt_error *error)
{
    struct report_shown shown;
    enum mt_result result = shown_take(options, &shown, error);

    if (result != MT_OK)
        return result;
    for (const struct gate_writer *writer = gate_writers; writer->name; writer++) {
        struct outlet *outlet;

        if (strcmp(writer->name, format) != 0)
            continue;
        outlet = outlet_create(writer->audience, out);
        outlet_show(outlet, &shown.look);
        writer->write(gate->verdict, outlet);
        return finish(outlet, out, error);
    }
    return mt_error_set(error, MT_USAGE, "there is no format named %s", format);
}

enum mt_result mt_gate_write(const struct mt_gate_verdict *gate, const char *format, FILE *out,
                             struct mt_error *error)
{
    return mt_gate_write_with(gate, format, NULL, out, error);
}

enum mt_result mt_gate_write_to(const struct mt_gate_verdict *gate, const char *format,
                                mt_write_function write, void *context, struct mt_error *error)
{
    FILE *out = callback_file_open(write, context, error);
    enum mt_result result;

    if (!out)
        return MT_NO_MEMORY;
    result = mt_gate_write(gate, format, out, error);
    fclose(out);
    return result;
}

const char *mt_gate_format_at(size_t index, const char **meaning, const char **file_name)
{
    const struct gate_writer *writer = gate_writers;

    while (writer->name && index--)
        writer++;
    if (writer->name && meaning)
        *meaning = writer->meaning;
    if (writer->name && file_name)
        *file_name = writer->file_name;
    return writer->name;
}

bool mt_format_is_for_people(const char *format)
{
    const struct report_writer *of_answers = report_writer_find(format);
    const struct gate_writer *writer = gate_writers;

    while (writer->name && strcmp(writer->name, format) != 0)
        writer++;
    return (of_answers && audience_is_people(of_answers->audience)) ||
           (writer->name && audience_is_people(writer->audience));
}

const char *mt_gate_baseline_path(const struct mt_gate_verdict *gate)
{
    return gate->baseline_path[0] ? gate->baseline_path : NULL;
}

enum mt_result mt_gate_write_baseline(const struct mt_gate_verdict *gate, FILE *out,
                                      struct mt_error *error)
{
    if (!measures_count(&gate->verdict->measures))
        return mt_error_set(error, MT_NO_DATA,
                            "the recording has no pool: there is no number to "
                            "agree to");
    if (baseline_write(&gate->verdict->measures, out))
        return MT_OK;
    return mt_error_set(error, MT_IO, "the baseline cannot be written: %s", strerror(errno));
}

enum mt_result mt_gate_write_suppressions(const struct mt_gate_verdict *gate, FILE *out,
                                          struct mt_error *error)
{
    struct outlet *outlet = outlet_create(FOR_TERMINAL, out);

    gate_add_suppressions(gate->verdict, outlet);
    return finish(outlet, out, error);
}

enum mt_result mt_gate_explain(const struct mt_gate_verdict *gate, const char *key, FILE *out,
                               struct mt_error *error)
{
    struct outlet *said = outlet_create(FOR_TERMINAL, NULL);
    enum mt_result result = gate_explain(&gate->gate, gate->verdict, key, said, error);

    if (result == MT_OK) {
        struct outlet *outlet = outlet_create(FOR_TERMINAL, out);

        outlet_append(outlet, said);
        result = finish(outlet, out, error);
    }
    outlet_destroy(said);
    return result;
}
