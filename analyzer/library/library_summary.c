/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements leaktide/summaries.h.
 */
#include "leaktide/summaries.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "analyses.h"
#include "library_answer.h"
#include "missing.h"
#include "rank_analyses.h"
#include "rank_gather.h"
#include "rank_history.h"
#include "rank_returned.h"
#include "rank_sql.h"
#include "rank_summaries.h"
#include "summary_files.h"
#include "taken_options.h"
#include "text_builder.h"
#include "trace_question.h"

enum { ranks_top = 30 };

/* --- from a recording --------------------------------------------------------------------------
 */

/* What the report of the recording says first. */
static void add_verdict(struct summary *summary, const struct report *report)
{
    bool is_alone = summary_rows(summary, SUMMARY_ranks) == 1;

    for (size_t i = 0; i < report_verdict_count(report); i++) {
        size_t row = summary_add(summary, SUMMARY_findings);

        if (is_alone)
            summary_put_text(summary, COLUMN_findings_process_key, row,
                             summary_text_at(summary, COLUMN_ranks_process_key, 0));
        summary_put_text(summary, COLUMN_findings_kind, row, "verdict");
        summary_put_text(summary, COLUMN_findings_sentence, row, report_verdict_at(report, i));
    }
}

static enum mt_result gather(struct mt_trace *trace, const struct rank_wish *wish,
                             struct mt_error *error)
{
    static const struct analysis further[] = {{.of_blocks = &summary_analysis}, {NULL, NULL}};
    const struct answer_kind *kind = answer_kind_find("verdict");
    struct question question = trace_question(trace);
    struct report *report;
    enum mt_result result = report_create("verdict", &report, error);

    if (result != MT_OK)
        return result;
    question.top = kind->top;
    question.wish = wish;
    trace_begin(trace);
    analyses_run(kind->analyses, further, &question, report);
    missing_say(&question, "", report);
    add_verdict(wish->summary, report);
    result = trace_end(trace, MT_OK, error);
    if (result == MT_OK)
        result = report_status(report, error);
    report_destroy(report);
    return result;
}

static enum mt_result identify(struct summary *summary, const struct mt_summary_options *options,
                               struct mt_error *error)
{
    struct rank_layout layout;
    enum mt_result result = rank_layout_read(options->parallel, &layout, error);
    size_t count = summary_rows(summary, SUMMARY_ranks);

    if (result != MT_OK)
        return result;
    if (options->has_rank && count > 1)
        return mt_error_of(
            error, "rank",
            mt_error_set(error, MT_USAGE, "a recording of %zu processes has no one rank", count));
    for (size_t row = 0; row < count; row++) {
        if (options->world_size)
            summary_put(summary, COLUMN_ranks_world_size, row, options->world_size);
    }
    rank_layout_apply(&layout, summary);
    return MT_OK;
}

/* Below the folder: what the first process is, so that it is found again. */
static void name_summary(const struct summary *summary, const char *folder,
                         struct text_builder *path)
{
    const char *key = summary_text_at(summary, COLUMN_ranks_process_key, 0);

    if (summary_has(summary, COLUMN_ranks_rank, 0))
        text_add_format(path, "%s/rank-%05" PRIu64 "-%s", folder,
                        summary_bytes(summary, COLUMN_ranks_rank, 0), key);
    else
        text_add_format(path, "%s/process-%" PRIu64 "-%s", folder,
                        summary_bytes(summary, COLUMN_ranks_process_id, 0), key);
}

static enum mt_result write_below(const struct summary *summary, const char *folder,
                                  struct mt_error *error)
{
    struct text_builder path;
    enum mt_result result;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return mt_error_set(error, MT_USAGE, "%s: %s", folder, strerror(errno));
    text_init(&path);
    name_summary(summary, folder, &path);
    result = path.has_failed ? mt_error_set(error, MT_NO_MEMORY, "no memory for a summary")
                             : summary_write(summary, text_get(&path), error);
    text_release(&path);
    return result;
}

enum mt_result mt_trace_summarize(struct mt_trace *trace, const struct mt_summary_options *options,
                                  const char *folder, struct mt_error *error)
{
    struct mt_summary_options whole = {.size_bytes = sizeof(whole)};
    enum mt_result result = options_take(&whole, sizeof(whole), options, error);
    struct summary summary;

    if (result == MT_OK)
        result = trace_allows(trace, NULL, error);
    if (result != MT_OK)
        return result;
    summary_init(&summary);
    result = gather(trace,
                    &(struct rank_wish){.summary = &summary,
                                        .host = whole.host,
                                        .has_rank = whole.has_rank,
                                        .rank = whole.rank},
                    error);
    if (result == MT_OK)
        result = summary_status(&summary, error);
    if (result == MT_OK && !summary_rows(&summary, SUMMARY_ranks))
        result = mt_error_set(error, MT_NO_DATA, "%s: no process has memory", trace_path(trace));
    if (result == MT_OK)
        result = identify(&summary, &whole, error);
    if (result == MT_OK)
        result = write_below(&summary, folder, error);
    summary_release(&summary);
    return result;
}

/* --- from summaries ----------------------------------------------------------------------------
 */

bool mt_summaries_are_at(const char *path)
{
    struct summary_folders folders;
    struct mt_error ignored;
    bool are_there;

    summary_folders_init(&folders);
    are_there = summary_folders_find(path, &folders, &ignored) == MT_OK &&
                (folders.count || folders.unfinished_count);
    summary_folders_release(&folders);
    return are_there;
}

enum mt_result mt_summaries_merge(const char *const *paths, size_t count, const char *folder,
                                  struct mt_error *error)
{
    struct summary_folders folders;
    struct summary_reader *reader = NULL;
    struct summary summary;
    enum mt_result result = MT_OK;

    summary_init(&summary);
    summary_folders_init(&folders);
    for (size_t i = 0; result == MT_OK && i < count; i++)
        result = summary_folders_find(paths[i], &folders, error);
    if (result == MT_OK && !folders.count)
        result = mt_error_set(error, MT_NO_DATA, "%s: there is no summary", count ? paths[0] : "");
    if (result == MT_OK)
        result = summary_reader_create(&reader, error);
    for (size_t i = 0; result == MT_OK && i < folders.count; i++)
        result = summary_read(reader, folders.paths[i], &summary, error);
    if (result == MT_OK)
        result = summary_write(&summary, folder, error);
    summary_reader_destroy(reader);
    summary_folders_release(&folders);
    summary_release(&summary);
    return result;
}

enum mt_result mt_summaries_ask(const char *const *paths, size_t count,
                                const struct mt_ask_options *options, struct mt_answer **out,
                                struct mt_error *error)
{
    struct mt_ask_options whole = {.size_bytes = sizeof(whole), .top = MT_TOP_DEFAULT};
    enum mt_result result = options_take(&whole, sizeof(whole), options, error);
    struct rank_sources sources = {.paths = paths, .count = count};
    struct rank_question question = {.top = ranks_top};
    struct report *report;

    if (result == MT_OK)
        result = rank_layout_read(whole.parallel, &sources.layout, error);
    if (result == MT_OK)
        result = report_create("ranks", &report, error);
    if (result != MT_OK)
        return result;
    if (whole.top != MT_TOP_DEFAULT)
        question.top = whole.top;
    return answer_give(report, rank_summaries_answer(&sources, &question, report, error), out,
                       error);
}

enum mt_result mt_summaries_history(const char *const *paths, size_t count, size_t last,
                                    const struct mt_ask_options *options, struct mt_answer **out,
                                    struct mt_error *error)
{
    struct mt_ask_options whole = {.size_bytes = sizeof(whole), .top = MT_TOP_DEFAULT};
    enum mt_result result = options_take(&whole, sizeof(whole), options, error);
    struct history history;
    struct report *report;

    if (result == MT_OK)
        result = report_create("history", &report, error);
    if (result != MT_OK)
        return result;
    result = history_read(paths, count, last ? last : HISTORY_LAST_USUAL, &history, error);
    if (result == MT_OK)
        history_answer(&history, whole.top == MT_TOP_DEFAULT ? ranks_top : whole.top, report);
    history_release(&history);
    return answer_give(report, result, out, error);
}

/* --- from an engine --------------------------------------------------------------------------- */

enum mt_result mt_summaries_query(const char *const *paths, size_t count, const char *dialect,
                                  const char *parallel, FILE *out, struct mt_error *error)
{
    struct rank_sources sources = {.paths = paths, .count = count};
    struct text_builder text;
    enum mt_result result = rank_layout_read(parallel, &sources.layout, error);

    text_init(&text);
    if (result == MT_OK)
        result = rank_sql_write(&sources, dialect, &text, error);
    if (result == MT_OK && fputs(text_get(&text), out) < 0)
        result = mt_error_set(error, MT_USAGE, "the query: %s", strerror(errno));
    text_release(&text);
    return result;
}

enum mt_result mt_summaries_returned(const char *path, const char *engine, struct mt_answer **out,
                                     struct mt_error *error)
{
    struct report *report;
    enum mt_result result = report_create("ranks", &report, error);

    if (result != MT_OK)
        return result;
    return answer_give(report, rank_returned_answer(path, engine, report, error), out, error);
}
