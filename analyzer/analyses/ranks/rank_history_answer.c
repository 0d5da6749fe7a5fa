/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said about the newest run, and a table of all.
 */
#include <string.h>
#include <time.h>

#include "analysis.h"
#include "labels.h"
#include "rank_history.h"
#include "sentence.h"

static const char *const state_words[] = {
    [HISTORY_GOOD] = "good",       [HISTORY_INCOMPLETE] = "incomplete",
    [HISTORY_GREW] = "peak grew",  [HISTORY_DIED] = "a rank died",
    [HISTORY_REFUSED] = "refused", [HISTORY_LEAKS] = "leaks",
};

/* Facts that all findings have. */
static void say(struct report *report, const struct history_run *run, const char *cause,
                const char *site, uint64_t bytes, uint64_t base_bytes, const char *since,
                const char *sentence)
{
    const struct field facts[] = {
        {"cause", NULL, value_word(cause)},
        {"run", NULL, value_text(run->name)},
        {"rank", NULL, *run->highest ? value_text(run->highest) : value_none()},
        {"pool", NULL, value_text(run->pool)},
        {"site", NULL, site ? value_text(site) : value_none()},
        {"since_run", NULL, value_text(since)},
        {"value_bytes", NULL, value_bytes(bytes)},
        {"base_bytes", NULL, base_bytes ? value_bytes(base_bytes) : value_none()},
    };

    report_verdict(report, RANK_MODULES, "%s", sentence);
    report_finding(report, "history", sentence, facts, sizeof(facts) / sizeof(facts[0]));
}

static const struct history_run *newest_of(const struct history *history)
{
    return &history->runs[history->count - 1];
}

static bool leaks_at(const struct history_run *run, const char *site)
{
    for (size_t i = 0; i < run->leak_count; i++)
        if (strcmp(run->leaks[i], site) == 0)
            return true;
    return false;
}

/* The first of the runs up to the newest that leak there without a pause. */
static const struct history_run *leaks_since(const struct history *history, const char *site)
{
    const struct history_run *since = newest_of(history);

    while (since > history->runs && leaks_at(since - 1, site))
        since--;
    return since;
}

static void say_leaks(struct report *report, const struct history *history)
{
    const struct history_run *newest = newest_of(history);

    for (size_t i = 0; i < newest->leak_count && i < 20; i++) {
        const struct history_run *since = leaks_since(history, newest->leaks[i]);

        say(report, newest, "leak", newest->leaks[i], newest->growth_bytes_per_step, 0, since->name,
            report_text(report, "LEAK: run %s leaks at %s%s.", newest->name, newest->leaks[i],
                        since == newest ? translated("; no run right before it did")
                                        : report_text(report, "; since run %s", since->name)));
    }
    if (newest->leak_count)
        report_outcome(report, REPORT_FOUND);
}

static uint64_t bytes_at(const struct history_run *run, const char *site)
{
    for (size_t i = 0; i < run->site_count; i++)
        if (strcmp(run->sites[i].name, site) == 0)
            return run->sites[i].bytes;
    return 0;
}

/* The site that grew most against the newest good run; NULL: none did. */
static const struct history_site *grown_site(const struct history_run *run,
                                             const struct history_run *base, uint64_t *more)
{
    const struct history_site *most = NULL;

    *more = 0;
    for (size_t i = 0; i < run->site_count; i++) {
        uint64_t before = bytes_at(base, run->sites[i].name), now = run->sites[i].bytes;

        if (now <= before || now - before <= *more)
            continue;
        *more = now - before;
        most = &run->sites[i];
    }
    return most;
}

static const struct history_run *grew_since(const struct history *history)
{
    const struct history_run *since = newest_of(history);

    while (since > history->runs && since[-1].state == HISTORY_GREW)
        since--;
    return since;
}

static const char *size_of(struct report *report, uint64_t bytes)
{
    return label_size(report_arena(report), bytes);
}

/* "the 5 good runs before it (39.8 GiB to 40.2 GiB)" */
static const char *base_words(struct report *report, const struct history_run *run)
{
    if (run->base_count == 1)
        return report_text(report, "the one good run before it (%s)",
                           size_of(report, run->base_median));
    return report_text(report, "the %zu good runs before it (%s to %s)", run->base_count,
                       size_of(report, run->base_low), size_of(report, run->base_high));
}

static void say_growth(struct report *report, const struct history *history)
{
    const struct history_run *newest = newest_of(history), *since = grew_since(history);
    const struct history_run *base = &history->runs[newest->base_last];
    uint64_t more;
    const struct history_site *site = grown_site(newest, base, &more);

    say(report, newest, "peak grew", site ? site->name : NULL, newest->peak_bytes,
        newest->base_median, since->name,
        report_text(
            report, "PEAK GREW: run %s peaks at %s (%s, %s), %s above the middle of %s%s%s.",
            newest->name, size_of(report, newest->peak_bytes), newest->pool, newest->highest,
            size_of(report, newest->peak_bytes - newest->base_median), base_words(report, newest),
            site ? report_text(report, "; most of it at %s, %s more", site->name,
                               size_of(report, more))
                 : "",
            since == newest ? "" : report_text(report, "; since run %s", since->name)));
}

static void say_newest(struct report *report, const struct history *history)
{
    const struct history_run *newest = newest_of(history);

    if (history->unread_count)
        report_verdict(report, RANK_INCOMPLETE,
                       "INCOMPLETE: %zu summaries could not be read; the first: %s",
                       history->unread_count, history->first_unread);
    say_leaks(report, history);
    if (newest->state == HISTORY_GREW)
        say_growth(report, history);
    else if (newest->base_count && !newest->leak_count)
        report_verdict(report, RANK_MODULES, "The newest run, %s, peaks at %s (%s), as %s.",
                       newest->name, size_of(report, newest->peak_bytes), newest->pool,
                       base_words(report, newest));
    if (newest->base_count || newest->leak_count)
        return;
    report_verdict(report, RANK_MODULES,
                   "No good run of pool %s is there before the newest, %s: nothing to compare.",
                   newest->pool, newest->name);
    report_outcome(report, REPORT_NO_DATA);
}

/* --- all runs --------------------------------------------------------------------------------- */

static struct value start_value(struct report *report, uint64_t realtime_ns)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    struct tm parts;
    char text[40];

    if (!realtime_ns || !gmtime_r(&seconds, &parts) ||
        !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
        return value_none();
    return value_text(report_text(report, "%s", text));
}

static void add_row(struct report *report, struct report_table *table,
                    const struct history_run *run)
{
    const struct field fields[] = {
        {"run", "run", value_text(run->name)},
        {"started", "started", start_value(report, run->start_realtime_ns)},
        {"rank_count", "ranks", value_count(run->rank_count)},
        {"step_count", "steps", value_count(run->step_count)},
        {"pool", "pool", value_text(run->pool)},
        {"peak_bytes", "peak", value_bytes(run->peak_bytes)},
        {"process", "of", value_text(run->highest)},
        {"median_bytes", "median", value_bytes(run->median_bytes)},
        {"change_bytes", "against good runs",
         run->base_count
             ? value_change(VALUE_BYTES_CHANGE, (int64_t)(run->peak_bytes - run->base_median))
             : value_none()},
        {"growth_bytes_per_step", "growth per step", value_bytes(run->growth_bytes_per_step)},
        {"leak_count", "leaks", value_count(run->leak_count)},
        {"state", "is", value_word(state_words[run->state])},
    };

    report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
}

void history_answer(struct history *history, size_t top, struct report *report)
{
    size_t shown = top && top < history->count ? top : history->count;
    struct report_table *table;

    report_fact(report, "run_count", "Runs", value_count(history->count));
    report_fact(report, "unread_summary_count", NULL, value_count(history->unread_count));
    say_newest(report, history);
    table = report_table(report, "history", "Runs, the oldest first", NULL);
    for (size_t i = history->count - shown; i < history->count; i++)
        add_row(report, table, &history->runs[i]);
    if (shown < history->count)
        report_table_remark(report, table, "... and %zu older ones.", history->count - shown);
}
