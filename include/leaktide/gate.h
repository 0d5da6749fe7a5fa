/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hold recordings against a memory budget: a policy, a baseline, suppressions. docs/gates.md
 * describes the files.
 *
 *     struct mt_gate_options options = {.size_bytes = sizeof(options), .policy_path =
 * "leaktide.toml"};
 *
 *     if (mt_gate_judge(&options, traces, 1, &verdict, &error) == MT_OK)
 *         mt_gate_write(verdict, "text", stdout, &error);
 *
 * One thread at a time.
 */
#ifndef LEAKTIDE_GATE_H
#define LEAKTIDE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "leaktide/analyzer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mt_gate_verdict;

/* Entries are only ever added at the end; size_bytes = sizeof(struct mt_gate_options). */
struct mt_gate_options {
    size_t size_bytes;
    const char *policy_path;
    const char *baseline_path; /* NULL: the one that the policy names, if any; a folder: its last
                                  good runs, as docs/history.md has them */
    const char *suppressions_path; /* likewise */
    /* A baseline that is not there yet is none: for writing the first one. */
    bool is_baseline_optional;
    /* Instead of recordings: folders with the summaries of all ranks (leaktide/summaries.h), each a
     * run of the same job. They are named in the verdict, and not kept. */
    const char *const *summaries;
    size_t summary_count;
};

enum mt_gate_outcome {
    MT_GATE_PASSED = 0,
    MT_GATE_FAILED,     /* something is over a limit */
    MT_GATE_INCOMPLETE, /* a recording is not complete, and the policy wants it to be */
    MT_GATE_UNSURE      /* something cannot be judged for lack of data */
};

/*
 * traces  count >= 1 recordings of the same job: repeats; they must outlive the verdict; none where
 *         summaries are judged
 *
 * MT_NOT_FOUND, MT_IO: a file is not there or cannot be read; MT_USAGE: what stands in it is wrong,
 * with file and line; MT_NO_MEMORY.
 */
MT_API enum mt_result mt_gate_judge(const struct mt_gate_options *options,
                                    struct mt_trace *const *traces, size_t count,
                                    struct mt_gate_verdict **out, struct mt_error *error);
MT_API void mt_gate_close(struct mt_gate_verdict *verdict);

/* Whether its files could be used, with the results of mt_gate_judge(): before there is a trace. */
MT_API enum mt_result mt_gate_check(const struct mt_gate_options *options, struct mt_error *error);

MT_API enum mt_gate_outcome mt_gate_outcome(const struct mt_gate_verdict *verdict);
/* False: of a recording, or of the ranks of a job, something is missing. */
MT_API bool mt_gate_is_complete(const struct mt_gate_verdict *verdict);
/* Warnings: nothing is over a limit, but somebody should look; a suppression nobody needs. */
MT_API size_t mt_gate_remark_count(const struct mt_gate_verdict *verdict);

/* MT_USAGE when there is no such format, MT_IO when it cannot be written. */
MT_API enum mt_result mt_gate_write(const struct mt_gate_verdict *verdict, const char *format,
                                    FILE *out, struct mt_error *error);
/* Shown as the options of an answer say; NULL: none. */
MT_API enum mt_result mt_gate_write_with(const struct mt_gate_verdict *verdict, const char *format,
                                         const struct mt_write_options *options, FILE *out,
                                         struct mt_error *error);
/* mt_gate_write() to a function of the caller. */
MT_API enum mt_result mt_gate_write_to(const struct mt_gate_verdict *verdict, const char *format,
                                       mt_write_function write, void *context,
                                       struct mt_error *error);
/*
 * The names of the formats; NULL after the last. meaning and file_name may be NULL; else they get
 * a description of the format, and the usual name of its file.
 */
MT_API const char *mt_gate_format_at(size_t index, const char **meaning, const char **file_name);

/* The baseline that was named, whether it is there or not; NULL: none was. Borrowed. */
MT_API const char *mt_gate_baseline_path(const struct mt_gate_verdict *verdict);
/* The numbers of these recordings, to be agreed to. */
MT_API enum mt_result mt_gate_write_baseline(const struct mt_gate_verdict *verdict, FILE *out,
                                             struct mt_error *error);
/* A line for each leak that was found and is not suppressed yet. */
MT_API enum mt_result mt_gate_write_suppressions(const struct mt_gate_verdict *verdict, FILE *out,
                                                 struct mt_error *error);
/* All that is known about one key. MT_NOT_FOUND, with keys that look like it. */
MT_API enum mt_result mt_gate_explain(const struct mt_gate_verdict *verdict, const char *key,
                                      FILE *out, struct mt_error *error);

#ifdef __cplusplus
}
#endif

#endif
