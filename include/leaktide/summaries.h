/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries: what is kept of a rank, small enough for ten thousand of them in one place.
 *
 *     mt_summarize(path, NULL, &told, "summaries", NULL, &error);      where the recording lies
 *     mt_summaries_ask(&folder, 1, NULL, &answer, &error);             where all of them are
 *
 * A summary is a folder of Apache Parquet, a file for each table. docs/summaries.md has the tables.
 */
#ifndef LEAKTIDE_SUMMARIES_H
#define LEAKTIDE_SUMMARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "leaktide/analyzer.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the recording does not say. Entries are only ever added at the end; size_bytes =
 * sizeof(struct mt_summary_options).
 */
struct mt_summary_options {
    size_t size_bytes;
    const char *host;     /* NULL: not known */
    bool has_rank;        /* the number is this one; of a recording of one process */
    uint64_t rank;        /* number among the ranks of the job */
    uint64_t world_size;  /* how many ranks the job has; 0: not known */
    const char *parallel; /* how ranks are numbered, "tp=2,dp=8,pp=4": what changes fastest first;
                             NULL: not known */
    bool has_pages;       /* the report of each process as a page, folder/pages/KEY.html */
};

/*
 * Reads a recording and writes the summary of all its processes into a folder of its own below
 * `folder`, which is made if need be. The name of that folder is of the first process, so that the
 * same recording replaces its own summary. It is written whole, or not at all. Of a run with
 * several processes, one is in memory at a time.
 *
 * path         as of mt_trace_open()
 * how          as of mt_trace_open_with(), for each process again; its question is not looked at
 * is_complete  gets what mt_trace_is_complete() says; may be NULL
 *
 * Returns MT_OK; MT_USAGE: it cannot be written there, or the options are wrong; MT_NO_DATA: no
 * process has memory; else as mt_trace_open_with().
 */
MT_API enum mt_result mt_summarize(const char *path, const struct mt_open_options *how,
                                   const struct mt_summary_options *told, const char *folder,
                                   bool *is_complete, struct mt_error *error);

/* Whether the path is a summary, or a folder with summaries in it. */
MT_API bool mt_summaries_are_at(const char *path);

/*
 * One summary of many, with large groups of rows, in `folder`, which is new or a summary. What
 * cannot be read ends it, as mt_trace_open() says.
 */
MT_API enum mt_result mt_summaries_merge(const char *const *paths, size_t count, const char *folder,
                                         struct mt_error *error);

/*
 * The question "ranks", asked of summaries: of options, top and parallel. What is torn, missing,
 * there twice or of another version is named, and does not stop the answer; its fact
 * "unread_summary_count" says how many could not be read.
 *
 * Returns MT_OK; MT_NOT_FOUND, MT_IO; MT_NO_DATA: there is no summary; MT_USAGE: no path, parallel;
 * MT_NO_MEMORY.
 */
MT_API enum mt_result mt_summaries_ask(const char *const *paths, size_t count,
                                       const struct mt_ask_options *options, struct mt_answer **out,
                                       struct mt_error *error);

/*
 * The question "history": runs of a job over time, and whether the newest holds more than the good
 * ones before it, or leaks. docs/history.md says what a run is, and when it is good.
 *
 * paths  each folder in them is a run; a path that is itself a summary is one
 * last   how many good runs are compared with, at most; 0: 5
 *
 * Of options, top. Facts, damage and results are those of mt_summaries_ask().
 */
MT_API enum mt_result mt_summaries_history(const char *const *paths, size_t count, size_t last,
                                           const struct mt_ask_options *options,
                                           struct mt_answer **out, struct mt_error *error);

/*
 * The same comparison as one query of SQL, for an engine that reads the files where they lie.
 *
 * dialect   "duckdb" or "spark"
 * parallel  as in struct mt_ask_options; NULL: what the summaries say
 * out       gets the text of the query, without a semicolon
 *
 * Paths that are not of this machine, as of an object store, are taken to hold summaries side by
 * side. docs/summaries.md says what the query returns. Returns MT_OK; MT_USAGE: no path, dialect,
 * parallel, or out cannot be written; MT_NO_MEMORY.
 */
MT_API enum mt_result mt_summaries_query(const char *const *paths, size_t count,
                                         const char *dialect, const char *parallel, FILE *out,
                                         struct mt_error *error);

/*
 * The answer that such a query is: findings as of mt_summaries_ask(), without its tables of ranks.
 *
 * path      a file of Parquet, of the rows that the query returned
 * engine    as sentences name it
 *
 * Returns MT_OK; MT_NOT_FOUND, MT_IO, MT_CORRUPT, MT_UNSUPPORTED: of the file; MT_NO_MEMORY.
 */
MT_API enum mt_result mt_summaries_returned(const char *path, const char *engine,
                                            struct mt_answer **out, struct mt_error *error);

#ifdef __cplusplus
}
#endif

#endif
