/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_answer.h"

#include <inttypes.h>
#include <string.h>

#include "analysis.h"
#include "labels.h"
#include "rank_deaths.h"
#include "rank_findings.h"
#include "rank_judged.h"
#include "sentence.h"

struct answering {
    struct rank_set *set;
    const struct rank_question *question;
    struct report *report;
    struct arena *texts;
    struct rank_difference *differences;
    size_t difference_count;
    struct rank_host *hosts;
    size_t host_count;
    bool *leaks; /* by rank */
    size_t said; /* sentences of the verdict */
};

/* Figures of a finding; what is not said is 0 or NULL. */
struct figures {
    const char *cause; /* a word */
    const char *rank, *host, *pool, *site;
    int64_t step; /* -1: not known */
    uint64_t rank_count, bytes, peers_bytes;
};

static void say(struct answering *answering, bool is_verdict, const char *sentence,
                const struct figures *figures)
{
    const struct field facts[] = {
        {"cause", NULL, value_word(figures->cause)},
        {"rank", NULL, figures->rank ? value_text(figures->rank) : value_none()},
        {"host_name", NULL, figures->host ? value_text(figures->host) : value_none()},
        {"pool", NULL, figures->pool ? value_text(figures->pool) : value_none()},
        {"site", NULL, figures->site ? value_text(figures->site) : value_none()},
        {"step", NULL, figures->step >= 0 ? value_step((uint64_t)figures->step) : value_none()},
        {"rank_count", NULL, value_count(figures->rank_count)},
        {"value_bytes", NULL, value_bytes(figures->bytes)},
        {"peers_bytes", NULL,
         figures->peers_bytes ? value_bytes(figures->peers_bytes) : value_none()},
    };

    if (is_verdict) {
        report_verdict(answering->report, RANK_MODULES, "%s", sentence);
        answering->said++;
    }
    report_finding(answering->report, "rank", sentence, facts, sizeof(facts) / sizeof(facts[0]));
}

static const char *size_of(struct answering *answering, uint64_t bytes)
{
    return label_size(answering->texts, bytes);
}

/* --- leaks ------------------------------------------------------------------------------------ */

static const char *on_ranks(struct answering *answering, const struct rank_leak *leak)
{
    size_t all = answering->set->count;

    if (all == 1)
        return rank_label(answering->set, answering->texts, leak->first);
    if (leak->rank_count == all)
        return report_text(answering->report, "all %zu ranks", all);
    if (leak->rank_count == 1)
        return report_text(answering->report, "%s alone, of %zu ranks",
                           rank_label(answering->set, answering->texts, leak->first), all);
    return report_text(answering->report, "%zu of %zu ranks", leak->rank_count, all);
}

static const char *began(struct answering *answering, const struct rank_leak *leak)
{
    const char *rank = rank_label(answering->set, answering->texts, leak->first);

    if (leak->first_step < 0)
        return "";
    return leak->rank_count == 1
               ? report_text(answering->report, "; since step %" PRId64, leak->first_step)
               : report_text(answering->report, "; first in step %" PRId64 ", on %s",
                             leak->first_step, rank);
}

static void mark_leaks(struct answering *answering)
{
    const struct rank_set *set = answering->set;
    const struct summary *summary = &set->summary;

    for (size_t row = 0; row < summary_rows(summary, SUMMARY_findings); row++) {
        const struct rank *rank = rank_set_owner(set, SUMMARY_findings, row);

        if (rank && strcmp(summary_text_at(summary, COLUMN_findings_kind, row), "leak") == 0)
            answering->leaks[rank - set->ranks] = true;
    }
}

static void say_leaks(struct answering *answering)
{
    struct report *report = answering->report;
    struct rank_leak *leaks;
    size_t count;

    if (!rank_find_leaks(answering->set, answering->texts, &leaks, &count))
        return;
    for (size_t i = 0; i < count && i < RANK_FINDINGS_MOST; i++) {
        const struct rank_leak *leak = &leaks[i];
        const char *rate =
            leak->growth ? report_text(report, "%s per step", size_of(answering, leak->growth))
                         : report_text(report, "%s stay", size_of(answering, leak->bytes));
        const char *sentence =
            report_text(report, "LEAK on %s: %s at %s (%s)%s%s.", on_ranks(answering, leak), rate,
                        leak->site, leak->pool, began(answering, leak),
                        i == 0 && count > 1 ? report_text(report, "; and %zu more %s", count - 1,
                                                          count == 2 ? "leak" : "leaks")
                                            : "");
        struct figures figures = {
            .cause = "leak",
            .rank = leak->rank_count == 1
                        ? rank_label(answering->set, answering->texts, leak->first)
                        : NULL,
            .pool = leak->pool,
            .site = leak->site,
            .step = leak->first_step,
            .rank_count = leak->rank_count,
            .bytes = leak->growth ? leak->growth : leak->bytes,
        };

        say(answering, i == 0, sentence, &figures);
    }
    if (count)
        report_outcome(report, REPORT_FOUND);
}

/* --- refused requests, and who ended early ------------------------------------------------------
 */

static const char *followers(struct answering *answering, const struct rank_failures *failures)
{
    struct text_builder after;
    const char *text = "";

    if (!failures->has_next)
        return "";
    text_init(&after);
    text_add_duration(&after, failures->next_after_ns);
    text = report_text(
        answering->report, "; %zu ranks in all, the next %s, %s later", failures->rank_count,
        rank_label(answering->set, answering->texts, failures->next), text_get(&after));
    text_release(&after);
    return text;
}

static void say_failures(struct answering *answering)
{
    const struct rank_set *set = answering->set;
    const struct summary *summary = &set->summary;
    struct rank_failures failures = rank_find_failures(set);
    struct report *report = answering->report;
    int64_t step = -1;
    struct figures figures;
    const char *others = "";

    if (!failures.rank_count)
        return;
    if (summary_has(summary, COLUMN_failures_step, failures.row))
        step = summary_number(summary, COLUMN_failures_step, failures.row);
    if (failures.has_others)
        others = report_text(report, "; the others peaked at %u %% of that at most",
                             failures.nearest_percent);
    figures = (struct figures){
        .cause = "refused",
        .rank = rank_label(set, answering->texts, failures.first),
        .pool = summary_text_at(summary, COLUMN_failures_pool, failures.row),
        .step = step,
        .rank_count = failures.rank_count,
        .bytes = summary_bytes(summary, COLUMN_failures_live_bytes, failures.row),
    };
    say(answering, true,
        report_text(
            report, "OUT OF MEMORY: %s was refused first: %s%s, when it held %s (%s)%s%s.",
            figures.rank,
            size_of(answering, summary_bytes(summary, COLUMN_failures_size_bytes, failures.row)),
            step >= 0 ? report_text(report, " in step %" PRId64, step) : "",
            size_of(answering, figures.bytes), figures.pool, followers(answering, &failures),
            others),
        &figures);
    report_outcome(report, REPORT_FOUND);
}

/* "exited with status 3" */
static const char *how_it_ended(struct answering *answering, const struct rank *rank)
{
    const struct summary *summary = &answering->set->summary;
    uint64_t kills = summary_bytes(summary, COLUMN_ranks_kernel_kill_count, rank->row);

    if (summary_has(summary, COLUMN_ranks_exit_status, rank->row))
        return report_text(answering->report, "exited with status %" PRId64,
                           summary_number(summary, COLUMN_ranks_exit_status, rank->row));
    if (kills)
        return report_text(answering->report,
                           "was killed (the kernel killed %" PRIu64 " of its cgroup for memory)",
                           kills);
    return translated("was killed");
}

static const char *later_deaths(struct answering *answering, const struct rank_death *death)
{
    struct text_builder after;
    const char *text;

    if (!death->next)
        return "";
    text_init(&after);
    text_add_duration(&after, death->next_after_ns);
    text = report_text(answering->report, "; %zu ranks died, the next, %s, %s later",
                       death->dead_count, rank_label(answering->set, answering->texts, death->next),
                       text_get(&after));
    text_release(&after);
    return text;
}

static void say_death(struct answering *answering, const struct rank_death *death)
{
    const struct rank_set *set = answering->set;
    struct report *report = answering->report;
    uint64_t steps = summary_bytes(&set->summary, COLUMN_ranks_step_count, death->first->row);
    struct figures figures = {
        .cause = "died first",
        .rank = rank_label(set, answering->texts, death->first),
        .step = steps ? (int64_t)steps : -1,
        .rank_count = death->dead_count,
        .bytes = death->peak_bytes,
        .peers_bytes = death->peers_bytes,
    };
    const char *near = death->peak_bytes
                           ? report_text(report, "; it peaked at %s, its peers at %s in the middle",
                                         size_of(answering, death->peak_bytes),
                                         size_of(answering, death->peers_bytes))
                           : "";

    say(answering, true,
        report_text(
            report, "DIED FIRST: %s %s%s%s%s.", figures.rank, how_it_ended(answering, death->first),
            steps ? report_text(report, " after %s", label_counted(answering->texts, steps, "step"))
                  : "",
            later_deaths(answering, death), near),
        &figures);
}

/* What the rank that was refused memory first did then is no news. */
static const struct rank *say_first_death(struct answering *answering)
{
    struct rank_death death;

    if (!rank_find_death(answering->set, &death) || !death.first)
        return NULL;
    if (death.first != rank_find_failures(answering->set).first)
        say_death(answering, &death);
    return death.first;
}

/* Of `dead`, how it ended is known. */
static void say_stops(struct answering *answering, const struct rank *dead)
{
    struct rank_stop *stops;
    size_t count;

    if (!rank_find_stops(answering->set, answering->texts, dead, &stops, &count))
        return;
    for (size_t i = 0; i < count && i < RANK_FINDINGS_MOST; i++) {
        struct figures figures = {
            .cause = "ended early",
            .rank = rank_label(answering->set, answering->texts, stops[i].rank),
            .step = (int64_t)stops[i].steps,
            .rank_count = count,
        };

        say(answering, i == 0,
            report_text(answering->report, "%s ended after %s; half of the ranks did %s%s.",
                        figures.rank, label_counted(answering->texts, stops[i].steps, "step"),
                        label_count(answering->texts, stops[i].median_steps),
                        i == 0 && count > 1
                            ? report_text(answering->report, "; %zu ranks ended early", count)
                            : ""),
            &figures);
    }
}

/* --- who differs ------------------------------------------------------------------------------ */

static void say_hosts(struct answering *answering)
{
    for (size_t i = 0; i < answering->host_count && i < RANK_FINDINGS_MOST; i++) {
        const struct rank_host *host = &answering->hosts[i];
        struct figures figures = {
            .cause = "one host",
            .host = host->name,
            .step = -1,
            .rank_count = host->differing_count,
            .bytes = host->median_gap,
        };

        say(answering, i == 0,
            report_text(answering->report,
                        "Host %s: %zu of its %zu ranks peak %s than their peers elsewhere, by %s "
                        "in the middle.",
                        host->name, host->differing_count, host->rank_count,
                        host->is_more ? translated("higher") : translated("lower"),
                        size_of(answering, host->median_gap)),
            &figures);
    }
}

/* The largest difference of a site of the rank, or NULL. */
static const struct rank_difference *largest_site(const struct answering *answering,
                                                  const struct rank *rank)
{
    for (size_t i = 0; i < answering->difference_count; i++)
        if (answering->differences[i].rank == rank &&
            answering->differences[i].kind == RANK_MEASURE_SITE)
            return &answering->differences[i];
    return NULL;
}

static size_t peer_count(const struct rank_set *set, const struct rank *rank)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++)
        count += set->ranks[i].ledger != SIZE_MAX && set->ranks[i].group == rank->group &&
                 &set->ranks[i] != rank;
    return count;
}

static void say_difference(struct answering *answering, const struct rank_difference *difference,
                           bool is_verdict)
{
    struct rank_set *set = answering->set;
    struct report *report = answering->report;
    struct arena *texts = answering->texts;
    const struct rank_difference *site = largest_site(answering, difference->rank);
    const struct rank_step *since = rank_first_differing(set, difference->rank);
    struct figures figures = {
        .cause = "rank",
        .rank = rank_label(set, texts, difference->rank),
        .host = summary_text_at(&set->summary, COLUMN_ranks_host, difference->rank->row),
        .site = site ? site->name : NULL,
        .step = since ? since->number : -1,
        .rank_count = 1,
        .bytes = difference->value,
        .peers_bytes = difference->median,
    };

    figures.host = set->has_hosts && *figures.host ? figures.host : NULL;
    say(answering, is_verdict,
        report_text(report, "%s differs from %s%s: %s %s%s%s, median %s%s%s.", figures.rank,
                    label_counted(texts, peer_count(set, difference->rank), "other rank"),
                    set->has_stages ? translated(" of its stage") : "",
                    translated(rank_measures[difference->kind].word),
                    difference->name ? difference->name : "", difference->name ? " " : "",
                    size_of(answering, difference->value), size_of(answering, difference->median),
                    site && site != difference
                        ? report_text(report, "; most of it at %s, %s more", site->name,
                                      size_of(answering, rank_difference_bytes(site)))
                        : "",
                    since ? report_text(report, "; since the end of step %" PRId64, since->number)
                          : ""),
        &figures);
}

/* One finding for each rank, of its first difference; not of those whose host is the cause, and no
 * growth of one that leaks. */
static void say_ranks(struct answering *answering)
{
    const struct rank_set *set = answering->set;
    bool *is_said = arena_alloc(answering->texts, (set->count + 1) * sizeof(*is_said));
    size_t said = 0;

    for (size_t i = 0; is_said && i < answering->difference_count && said < RANK_FINDINGS_MOST;
         i++) {
        const struct rank_difference *difference = &answering->differences[i];

        if (is_said[difference->rank - set->ranks] ||
            (difference->kind == RANK_MEASURE_GROWTH &&
             answering->leaks[difference->rank - set->ranks]) ||
            rank_host_of(set, answering->hosts, answering->host_count, difference->rank))
            continue;
        is_said[difference->rank - set->ranks] = true;
        say_difference(answering, difference, said++ == 0);
    }
}

static void say_stages(struct answering *answering)
{
    struct rank_stages stages = rank_find_stages(answering->set, answering->texts);
    struct figures figures = {
        .cause = "stages",
        .step = -1,
        .rank_count = answering->set->count,
        .bytes = stages.highest_bytes,
        .peers_bytes = stages.mean_bytes,
    };

    if (!stages.count)
        return;
    say(answering, true,
        report_text(answering->report,
                    "Pipeline stage %" PRId64 " peaks at %s, and %zu stages at %s in the mean: an "
                    "even split would lower the highest peak by %s.",
                    stages.highest_stage, size_of(answering, stages.highest_bytes), stages.count,
                    size_of(answering, stages.mean_bytes),
                    size_of(answering, stages.highest_bytes - stages.mean_bytes)),
        &figures);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Among many ranks, what a reader looks for first. */
static void remark_spread(struct answering *answering, struct report_table *table)
{
    const struct rank_set *set = answering->set;
    uint64_t *peaks = arena_alloc(answering->texts, (set->count + 1) * sizeof(*peaks));
    uint64_t least = UINT64_MAX, most = 0;
    size_t count = 0;

    for (size_t i = 0; peaks && i < set->count; i++) {
        if (set->ranks[i].ledger == SIZE_MAX)
            continue;
        peaks[count] =
            summary_bytes(&set->summary, COLUMN_ledgers_peak_bytes, set->ranks[i].ledger);
        least = peaks[count] < least ? peaks[count] : least;
        most = peaks[count] > most ? peaks[count] : most;
        count++;
    }
    if (count >= RANK_PEERS_LEAST)
        report_table_remark(answering->report, table, "Peaks from %s to %s, median %s.",
                            size_of(answering, least), size_of(answering, most),
                            size_of(answering, rank_median(peaks, count)));
}

static struct value optional_bytes(const struct summary *summary, enum summary_column column,
                                   size_t row)
{
    return summary_has(summary, column, row) ? value_bytes(summary_bytes(summary, column, row))
                                             : value_none();
}

/* What is asked for even where no rank differs. Of a recording, all ranks; else those that are
 * listed are the highest. */
static void add_ranks(struct answering *answering)
{
    const struct rank_set *set = answering->set;
    const struct summary *summary = &set->summary;
    struct report_table *table =
        report_table(answering->report, "ranks", "Ranks side by side", NULL);
    size_t most =
        set->are_summaries && answering->question->top ? answering->question->top : SIZE_MAX;
    size_t shown = 0;

    for (size_t i = 0; i < set->count && shown < most; i++) {
        const struct rank *rank = &set->ranks[i];
        size_t row = rank->ledger;

        if (row == SIZE_MAX)
            continue;
        const struct field fields[] = {
            {"process", "rank", value_text(rank_label(set, answering->texts, rank))},
            {"ledger", "ledger", value_text(summary_text_at(summary, COLUMN_ledgers_name, row))},
            {"peak_bytes", "peak",
             value_bytes(summary_bytes(summary, COLUMN_ledgers_peak_bytes, row))},
            {"reserved_peak_bytes", "reserved",
             optional_bytes(summary, COLUMN_ledgers_reserved_peak_bytes, row)},
            {"end_bytes", "at the end",
             value_bytes(summary_bytes(summary, COLUMN_ledgers_end_bytes, row))},
            {"growth_bytes_per_step", "growth per step",
             optional_bytes(summary, COLUMN_ledgers_growth_bytes_per_step, row)},
        };

        report_row(answering->report, table, fields, sizeof(fields) / sizeof(fields[0]));
        shown++;
    }
    if (shown < set->compared_count)
        report_table_remark(answering->report, table, "... and %zu more.",
                            set->compared_count - shown);
    remark_spread(answering, table);
}

static void add_differences(struct answering *answering)
{
    struct report *report = answering->report;
    struct report_table *table = report_table(
        report, "rank_differences", "Ranks that differ from the median", "No rank differs.");
    size_t count = answering->difference_count, top = answering->question->top;
    size_t shown = top && top < count ? top : count;

    for (size_t i = 0; i < shown; i++) {
        const struct rank_difference *row = &answering->differences[i];
        const struct field fields[] = {
            {"process", "rank",
             value_text(rank_label(answering->set, answering->texts, row->rank))},
            {"measure", "what", value_word(rank_measures[row->kind].word)},
            {"name", "of", row->name ? value_text(row->name) : value_none()},
            {"value_bytes", "here", value_bytes(row->value)},
            {"median_bytes", "median", value_bytes(row->median)},
            {"difference_bytes", "difference",
             value_change(VALUE_BYTES_CHANGE, (int64_t)(row->value - row->median))},
        };

        report_row(report, table, fields, sizeof(fields) / sizeof(fields[0]));
    }
    if (shown < count)
        report_table_remark(report, table, "... and %zu more.", count - shown);
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool compare_all(struct answering *answering)
{
    if (!rank_compare(answering->set, &answering->differences, &answering->difference_count) ||
        !rank_find_hosts(answering->set, answering->texts, &answering->hosts,
                         &answering->host_count))
        return false;
    say_hosts(answering);
    say_ranks(answering);
    say_stages(answering);
    return true;
}

/* No finding of a leak is no word of calm about a rank that was not judged. */
static void say_unjudged(struct answering *answering)
{
    struct rank_judged judged = rank_find_judged(answering->set);
    const char *words = rank_judged_words(answering->set, &judged, answering->texts);

    report_fact(answering->report, "unjudged_rank_count", NULL, value_count(judged.unjudged_count));
    if (words)
        report_verdict(answering->report, RANK_MODULES, "CANNOT SAY whether something leaks on %s.",
                       words);
}

/* Of several; that one alone is there, the caller knows better. */
static void say_nothing_to_compare(struct answering *answering)
{
    const struct rank_set *set = answering->set;

    if (set->compared_count)
        report_verdict(answering->report, RANK_MODULES,
                       "Of %zu ranks only one holds memory of pool %s: nothing to compare.",
                       set->count, set->pool);
    else
        report_verdict(answering->report, RANK_MODULES,
                       "No rank holds memory: nothing to compare.");
    report_outcome(answering->report, REPORT_NO_DATA);
}

bool rank_answer(struct rank_set *set, const struct rank_question *question, struct report *report)
{
    struct answering answering = {
        .set = set, .question = question, .report = report, .texts = report_arena(report)};

    answering.leaks = arena_alloc(answering.texts, (set->count + 1) * sizeof(*answering.leaks));
    if (!answering.leaks)
        return false;
    mark_leaks(&answering);
    if (!question->is_part_of_report) {
        say_leaks(&answering);
        say_failures(&answering);
        say_stops(&answering, say_first_death(&answering));
    }
    if (set->compared_count > 1 && !compare_all(&answering))
        return false;
    if (!answering.said && set->compared_count > 1)
        report_verdict(report, RANK_MODULES, "%zu ranks, and none differs from the others.",
                       set->compared_count);
    if (set->count > 1 && set->compared_count < 2 && !question->is_part_of_report)
        say_nothing_to_compare(&answering);
    if (set->count > 1 && !question->is_part_of_report)
        say_unjudged(&answering);
    if (set->compared_count)
        add_ranks(&answering);
    if (set->compared_count > 1)
        add_differences(&answering);
    if (question->has_pictures)
        rank_heat_add(set, &question->pages, report);
    return !set->arena.has_failed && !set->summary.has_failed;
}
