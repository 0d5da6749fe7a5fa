/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements mt_summarize() of leaktide/summaries.h.
 *
 * A run with many processes is read process by process, so that one is in memory at a time; what is
 * kept of each is small. Which of them were helpers shows when all are known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyses.h"
#include "event_source.h"
#include "helpers.h"
#include "leaktide/summaries.h"
#include "memory_failures.h"
#include "missing.h"
#include "rank_analyses.h"
#include "rank_gather.h"
#include "rank_heat.h"
#include "rank_layout.h"
#include "summary_files.h"
#include "taken_options.h"
#include "text_builder.h"
#include "trace_question.h"

struct parts {
    const char *path;
    const struct mt_open_options *how;
    const struct mt_summary_options *told;
    const char *folder;
    struct arena arena;
    size_t count;             /* of what is read one after the other; 0 until that is known */
    struct summary *rows;     /* of each */
    struct process_use *uses; /* of each, where a part is a process */
    bool is_complete;
};

/* --- one part --------------------------------------------------------------------------------- */

/* What the report says first. */
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
    return result == MT_OK ? summary_status(wish->summary, error) : result;
}

/* --- the page of a rank ----------------------------------------------------------------------- */

static bool make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static enum mt_result write_answer(const struct mt_answer *answer, const char *path,
                                   struct mt_error *error)
{
    FILE *file = fopen(path, "w");
    enum mt_result result;

    if (!file)
        return mt_error_set(error, MT_USAGE, "%s: %s", path, strerror(errno));
    result = mt_answer_write(answer, "html", file, error);
    if (fclose(file) != 0 && result == MT_OK)
        result = mt_error_set(error, MT_USAGE, "%s: %s", path, strerror(errno));
    return result;
}

/* It is there whole or not at all. */
static enum mt_result put_page(const struct mt_answer *answer, const char *path,
                               struct mt_error *error)
{
    struct text_builder partial;
    enum mt_result result;

    text_init(&partial);
    text_add_format(&partial, "%s.partial-%ld", path, (long)getpid());
    result = partial.has_failed ? mt_error_set(error, MT_NO_MEMORY, "no memory for a summary")
                                : write_answer(answer, text_get(&partial), error);
    if (result == MT_OK && rename(text_get(&partial), path) != 0)
        result = mt_error_set(error, MT_USAGE, "%s: %s", path, strerror(errno));
    if (result != MT_OK)
        unlink(text_get(&partial));
    text_release(&partial);
    return result;
}

/* Of the first process of the part. */
static const char *page_path(struct parts *parts, size_t part)
{
    return arena_format(&parts->arena, "%s/" RANK_PAGES_FOLDER "/%s.html", parts->folder,
                        summary_text_at(&parts->rows[part], COLUMN_ranks_process_key, 0));
}

static enum mt_result write_page(struct parts *parts, struct mt_trace *trace, size_t part,
                                 struct mt_error *error)
{
    const struct mt_ask_options ask = {
        .size_bytes = sizeof(ask), .flags = MT_ASK_PICTURES, .top = MT_TOP_DEFAULT};
    const char *pages = arena_format(&parts->arena, "%s/" RANK_PAGES_FOLDER, parts->folder);
    struct mt_answer *answer;
    enum mt_result result;

    if (!make_folder(parts->folder) || !make_folder(pages))
        return mt_error_set(error, MT_USAGE, "%s: %s", pages, strerror(errno));
    result = mt_trace_ask(trace, "report", &ask, &answer, error);
    if (result != MT_OK)
        return result;
    result = put_page(answer, page_path(parts, part), error);
    mt_answer_close(answer);
    return result;
}

/* --- all parts -------------------------------------------------------------------------------- */

/* The first part tells how many there are. */
static bool count_parts(struct parts *parts, const struct question *question)
{
    bool is_by_process = strcmp(question->source_kind, SOURCE_KIND_OWN) == 0;
    size_t count = is_by_process ? model_process_count(question->model) : 1;

    parts->rows = calloc(count + 1, sizeof(*parts->rows));
    if (!parts->rows)
        return false;
    for (; parts->count < count; parts->count++)
        summary_init(&parts->rows[parts->count]);
    parts->uses = arena_alloc(&parts->arena, (count + 1) * sizeof(*parts->uses));
    return parts->uses != NULL;
}

static bool note_use(struct parts *parts, const struct mt_trace *trace, size_t part)
{
    struct process_use *use = &parts->uses[part];

    if (parts->count == 1)
        return true;
    *use = trace_process_use(trace);
    use->executable = arena_copy(&parts->arena, use->executable);
    return !parts->arena.has_failed;
}

static enum mt_result read_part(struct parts *parts, size_t part, struct mt_error *error)
{
    struct rank_wish wish = {
        .host = parts->told->host, .has_rank = parts->told->has_rank, .rank = parts->told->rank};
    struct mt_trace *trace;
    struct question question;
    enum mt_result result =
        trace_open_process(parts->path, (uint16_t)part, parts->how, &trace, error);

    if (result != MT_OK)
        return result;
    question = trace_question(trace);
    if ((!part && !count_parts(parts, &question)) || !note_use(parts, trace, part)) {
        result = mt_error_set(error, MT_NO_MEMORY, "no memory for a summary");
    } else {
        wish.summary = &parts->rows[part];
        result = gather(trace, &wish, error);
        if (result == MT_OK && parts->told->has_pages && summary_rows(wish.summary, SUMMARY_ranks))
            result = write_page(parts, trace, part, error);
    }
    parts->is_complete = parts->is_complete && trace_is_complete(trace);
    trace_close(trace);
    return result;
}

static void parts_release(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        summary_release(&parts->rows[i]);
    free(parts->rows);
    arena_release(&parts->arena);
}

/* Without helpers, and without processes that have no memory. */
static enum mt_result join(struct parts *parts, struct summary *summary, struct mt_error *error)
{
    helpers_find(parts->uses, parts->count);
    for (size_t i = 0; i < parts->count; i++) {
        if (!summary_rows(&parts->rows[i], SUMMARY_ranks))
            continue;
        if (!parts->uses[i].is_helper)
            summary_append(summary, &parts->rows[i]);
        else if (parts->told->has_pages)
            unlink(page_path(parts, i));
    }
    if (!summary_rows(summary, SUMMARY_ranks) && !summary->has_failed)
        return mt_error_set(error, MT_NO_DATA, "%s: no process has memory", parts->path);
    return summary_status(summary, error);
}

static enum mt_result gather_all(struct parts *parts, struct summary *summary,
                                 struct mt_error *error)
{
    enum mt_result result;

    parts->is_complete = true;
    arena_init(&parts->arena);
    result = read_part(parts, 0, error);
    for (size_t i = 1; result == MT_OK && i < parts->count; i++)
        result = read_part(parts, i, error);
    if (result == MT_OK)
        result = join(parts, summary, error);
    parts_release(parts);
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

    if (!make_folder(folder))
        return mt_error_set(error, MT_USAGE, "%s: %s", folder, strerror(errno));
    text_init(&path);
    name_summary(summary, folder, &path);
    result = path.has_failed ? mt_error_set(error, MT_NO_MEMORY, "no memory for a summary")
                             : summary_write(summary, text_get(&path), error);
    text_release(&path);
    return result;
}

static enum mt_result summarize(struct parts *parts, const char *folder, struct mt_error *error)
{
    struct summary summary;
    enum mt_result result;

    summary_init(&summary);
    result = gather_all(parts, &summary, error);
    if (result == MT_OK)
        result = identify(&summary, parts->told, error);
    if (result == MT_OK)
        result = write_below(&summary, folder, error);
    summary_release(&summary);
    return result;
}

enum mt_result mt_summarize(const char *path, const struct mt_open_options *how,
                            const struct mt_summary_options *told, const char *folder,
                            bool *is_complete, struct mt_error *error)
{
    struct mt_open_options whole_how = {.size_bytes = sizeof(whole_how)};
    struct mt_summary_options whole_told = {.size_bytes = sizeof(whole_told)};
    struct parts parts = {.path = path, .how = &whole_how, .told = &whole_told};
    enum mt_result result = options_take(&whole_how, sizeof(whole_how), how, error);

    if (result == MT_OK)
        result = options_take(&whole_told, sizeof(whole_told), told, error);
    if (result != MT_OK)
        return result;
    whole_how.question = NULL;
    parts.folder = folder;
    result = summarize(&parts, folder, error);
    if (result == MT_OK && is_complete)
        *is_complete = parts.is_complete;
    return result;
}
