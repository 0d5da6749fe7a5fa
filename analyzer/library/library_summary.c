/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements leaktide/summaries.h, but for mt_summarize().
 */
#include "leaktide/summaries.h"

#include <errno.h>
#include <string.h>

#include "library_answer.h"
#include "rank_history.h"
#include "rank_returned.h"
#include "rank_sql.h"
#include "rank_summaries.h"
#include "summary_files.h"
#include "taken_options.h"
#include "text_builder.h"

enum { ranks_top = 30 };

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
    enum mt_result result = paths_take(count, error);

    summary_init(&summary);
    summary_folders_init(&folders);
    for (size_t i = 0; result == MT_OK && i < count; i++)
        result = summary_folders_find(paths[i], &folders, error);
    if (result == MT_OK && !folders.count)
        result = mt_error_set(error, MT_NO_DATA, "%s: there is no summary", paths[0]);
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
    struct rank_question question = {.top = ranks_top, .pages = {paths, count, "."}};
    struct report *report;

    if (result == MT_OK)
        result = paths_take(count, error);
    if (result == MT_OK)
        result = rank_layout_read(whole.parallel, &sources.layout, error);
    if (result == MT_OK)
        result = report_create("ranks", &report, error);
    if (result != MT_OK)
        return result;
    if (whole.top != MT_TOP_DEFAULT)
        question.top = whole.top;
    question.has_pictures = whole.flags & MT_ASK_PICTURES;
    if (whole.page_folder)
        question.pages.from = whole.page_folder;
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
        result = paths_take(count, error);
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
    enum mt_result result = paths_take(count, error);

    text_init(&text);
    if (result == MT_OK)
        result = rank_layout_read(parallel, &sources.layout, error);
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
