/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_summaries.h"

#include <inttypes.h>
#include <string.h>

#include "analysis.h"
#include "rank_findings.h"
#include "summary_files.h"

enum { NOTES_MOST = 8 };

struct reading {
    struct summary_folders folders;
    struct summary_reader *reader;
    struct rank_set set;
    struct report *report;
    size_t unread_count;
};

static void note_unread(struct reading *reading, const char *why)
{
    if (reading->unread_count++ < NOTES_MOST)
        report_note(reading->report, 0, why);
}

static enum mt_result find_folders(struct reading *reading, const struct rank_sources *sources,
                                   struct mt_error *error)
{
    enum mt_result result = MT_OK;

    for (size_t i = 0; result == MT_OK && i < sources->count; i++)
        result = summary_folders_find(sources->paths[i], &reading->folders, error);
    summary_folders_sort(&reading->folders);
    if (result == MT_OK && !reading->folders.count)
        return mt_error_set(error, MT_NO_DATA, "%s: there is no summary", sources->paths[0]);
    return result;
}

static enum mt_result read_folders(struct reading *reading, struct mt_error *error)
{
    struct mt_error why;
    enum mt_result result;

    for (size_t i = 0; i < reading->folders.count; i++) {
        result =
            summary_read(reading->reader, reading->folders.paths[i], &reading->set.summary, &why);
        if (result == MT_NO_MEMORY)
            return mt_error_set(error, MT_NO_MEMORY, "%s", why.message);
        if (result == MT_OK)
            rank_set_take(&reading->set);
        else
            note_unread(reading, why.message);
    }
    for (size_t i = 0; i < reading->folders.unfinished_count; i++)
        note_unread(reading, report_text(reading->report, "%s: was not finished: summarize again",
                                         reading->folders.unfinished[i]));
    return MT_OK;
}

/* --- what is said about the summaries themselves ------------------------------------------------
 */

static const char *gap_list(struct reading *reading, const struct rank_gaps *gaps)
{
    const char *list = "";

    for (size_t i = 0; i < gaps->count && i < sizeof(gaps->first) / sizeof(gaps->first[0]); i++)
        list = report_text(reading->report, "%s%s%" PRId64, list, i ? ", " : "", gaps->first[i]);
    return gaps->count > sizeof(gaps->first) / sizeof(gaps->first[0])
               ? report_text(reading->report, "%s ...", list)
               : list;
}

static void say_missing(struct reading *reading, const struct rank_gaps *gaps)
{
    bool is_job = gaps->count && gaps->world_size;
    const char *unread = "", *missing = "";

    if (gaps->count && !gaps->world_size)
        report_note(
            reading->report, gaps->count,
            report_text(reading->report, "ranks have no summary: %s", gap_list(reading, gaps)));
    if (!reading->unread_count && !is_job)
        return;
    if (reading->unread_count)
        unread = report_text(reading->report, "%zu of %zu summaries could not be read",
                             reading->unread_count,
                             reading->folders.count + reading->folders.unfinished_count);
    if (is_job)
        missing = report_text(reading->report, "%s%zu of %" PRIu64 " ranks are not there: %s",
                              reading->unread_count ? "; " : "", gaps->count, gaps->world_size,
                              gap_list(reading, gaps));
    report_verdict(reading->report, RANK_INCOMPLETE, "INCOMPLETE: %s%s.", unread, missing);
}

static size_t count_hosts(const struct rank_set *set, struct arena *arena)
{
    const struct summary *summary = &set->summary;
    bool *is_seen = arena_alloc(arena, (summary->texts.count + 1) * sizeof(*is_seen));
    size_t count = 0;

    for (size_t i = 0; is_seen && i < set->count; i++) {
        size_t row = set->ranks[i].row;

        if (!summary_has(summary, COLUMN_ranks_host, row))
            continue;
        count += !is_seen[summary_number(summary, COLUMN_ranks_host, row)];
        is_seen[summary_number(summary, COLUMN_ranks_host, row)] = true;
    }
    return count;
}

static void add_facts(struct reading *reading)
{
    struct rank_set *set = &reading->set;
    struct report *report = reading->report;
    struct rank_gaps gaps = rank_find_gaps(set);
    size_t hosts = count_hosts(set, report_arena(report));

    report_fact(report, "rank_count", "Ranks", value_count(set->count));
    if (hosts)
        report_fact(report, "host_count", "Hosts", value_count(hosts));
    report_fact(report, "summary_count", NULL, value_count(reading->folders.count));
    report_fact(report, "unread_summary_count", NULL,
                value_count(reading->unread_count + (gaps.world_size ? gaps.count : 0)));
    if (set->twice_count)
        report_note(report, set->twice_count,
                    report_text(report,
                                "ranks are there twice, of which the newest counts; the first: %s",
                                summary_text_at(&set->summary, COLUMN_ranks_name, set->twice_row)));
    say_missing(reading, &gaps);
    if (set->count < 2) {
        report_verdict(report, RANK_MODULES, "Only one rank is there: nothing to compare.");
        report_outcome(report, REPORT_NO_DATA);
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

static enum mt_result answer_read(struct reading *reading, const struct rank_sources *sources,
                                  const struct rank_question *question, struct mt_error *error)
{
    rank_layout_apply(&sources->layout, &reading->set.summary);
    if (!rank_set_finish(&reading->set))
        return mt_error_set(error, MT_NO_MEMORY, "no memory to compare ranks");
    add_facts(reading);
    return rank_answer(&reading->set, question, reading->report)
               ? MT_OK
               : mt_error_set(error, MT_NO_MEMORY, "no memory to compare ranks");
}

enum mt_result rank_summaries_answer(const struct rank_sources *sources,
                                     const struct rank_question *question, struct report *report,
                                     struct mt_error *error)
{
    struct reading reading = {.report = report};
    enum mt_result result;

    rank_set_init(&reading.set, true);
    reading.set.summary.is_left_out[COLUMN_ranks_source] = !question->has_pictures;
    summary_folders_init(&reading.folders);
    result = find_folders(&reading, sources, error);
    if (result == MT_OK)
        result = summary_reader_create(&reading.reader, error);
    if (result == MT_OK)
        result = read_folders(&reading, error);
    if (result == MT_OK)
        result = answer_read(&reading, sources, question, error);
    summary_reader_destroy(reading.reader);
    summary_folders_release(&reading.folders);
    rank_set_release(&reading.set);
    return result;
}
