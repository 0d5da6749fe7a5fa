/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_history.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "leaktide/invariant.h"
#include "list.h"
#include "rank_compare.h"
#include "rank_deaths.h"
#include "rank_findings.h"
#include "rank_run.h"
#include "summary_files.h"

/* --- which runs there are --------------------------------------------------------------------- */

static bool add_run(struct history *history, size_t *capacity, const char *path)
{
    const char *name = strrchr(path, '/');

    if (!list_has_room(&history->runs, capacity, history->count, sizeof(*history->runs)))
        return false;
    history->runs[history->count++] = (struct history_run){
        .path = arena_copy(&history->arena, path),
        .name = arena_copy(&history->arena, name && name[1] ? name + 1 : path),
    };
    return !history->arena.has_failed;
}

static bool has_summaries(const char *path)
{
    struct summary_folders folders;
    struct mt_error ignored;
    bool has;

    summary_folders_init(&folders);
    has = summary_folders_find(path, &folders, &ignored) == MT_OK &&
          (folders.count || folders.unfinished_count);
    summary_folders_release(&folders);
    return has;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static enum mt_result find_runs(struct history *history, size_t *capacity, const char *path,
                                struct mt_error *error)
{
    struct dirent **entries;
    bool is_right = true;
    int count;

    if (summary_is_folder(path))
        return add_run(history, capacity, path)
                   ? MT_OK
                   : mt_error_set(error, MT_NO_MEMORY, "no memory for a history");
    count = scandir(path, &entries, is_visible, alphasort);
    if (count < 0)
        return mt_error_set(error, errno == ENOENT ? MT_NOT_FOUND : MT_IO, "%s: %s", path,
                            strerror(errno));
    for (int i = 0; i < count; i++) {
        const char *inner = arena_format(&history->arena, "%s/%s", path, entries[i]->d_name);

        if (is_right && has_summaries(inner))
            is_right = add_run(history, capacity, inner);
        free(entries[i]);
    }
    free(entries);
    return is_right ? MT_OK : mt_error_set(error, MT_NO_MEMORY, "no memory for a history");
}

/* --- what is kept of one ---------------------------------------------------------------------- */

struct reading {
    struct history *history;
    struct history_run *run;
    struct rank_run rows;
};

static const struct rank *highest_rank(const struct rank_set *set)
{
    const struct rank *highest = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < set->count; i++) {
        uint64_t peak;

        if (set->ranks[i].ledger == SIZE_MAX)
            continue;
        peak = summary_bytes(&set->summary, COLUMN_ledgers_peak_bytes, set->ranks[i].ledger);
        if (highest && peak <= most)
            continue;
        highest = &set->ranks[i];
        most = peak;
    }
    return highest;
}

static void keep_figures(struct reading *reading)
{
    const struct rank_set *set = &reading->rows.set;
    const struct summary *summary = &set->summary;
    struct history_run *run = reading->run;
    uint64_t *peaks = arena_alloc(&reading->rows.set.arena, (set->count + 1) * sizeof(*peaks));
    size_t count = 0;

    for (size_t i = 0; peaks && i < set->count; i++) {
        size_t row = set->ranks[i].row, ledger = set->ranks[i].ledger;
        uint64_t start_ns = summary_bytes(summary, COLUMN_ranks_start_realtime_ns, row);
        uint64_t steps = summary_bytes(summary, COLUMN_ranks_step_count, row), growth;

        if (start_ns && (!run->start_realtime_ns || start_ns < run->start_realtime_ns))
            run->start_realtime_ns = start_ns;
        run->step_count = steps > run->step_count ? steps : run->step_count;
        if (ledger == SIZE_MAX)
            continue;
        growth = summary_bytes(summary, COLUMN_ledgers_growth_bytes_per_step, ledger);
        run->growth_bytes_per_step =
            growth > run->growth_bytes_per_step ? growth : run->growth_bytes_per_step;
        peaks[count++] = summary_bytes(summary, COLUMN_ledgers_peak_bytes, ledger);
    }
    run->rank_count = set->count;
    run->median_bytes = count ? rank_median(peaks, count) : 0;
}

static bool is_site_of(const struct rank_set *set, const struct rank *rank, size_t row)
{
    const struct summary *summary = &set->summary;

    return rank_set_owner(set, SUMMARY_sites, row) == rank &&
           rank_measures[RANK_MEASURE_SITE].counts(summary, rank, row);
}

static void keep_highest(struct reading *reading)
{
    const struct rank_set *set = &reading->rows.set;
    const struct summary *summary = &set->summary;
    const struct rank *highest = highest_rank(set);
    struct arena *arena = &reading->history->arena;
    struct history_run *run = reading->run;
    size_t count = 0;

    run->pool = arena_copy(arena, set->pool);
    run->highest = highest ? arena_copy(arena, rank_label(set, arena, highest)) : "";
    if (!highest)
        return;
    run->peak_bytes = summary_bytes(summary, COLUMN_ledgers_peak_bytes, highest->ledger);
    for (size_t row = 0; row < summary_rows(summary, SUMMARY_sites); row++)
        count += is_site_of(set, highest, row);
    run->sites = arena_alloc(arena, (count + 1) * sizeof(*run->sites));
    for (size_t row = 0; run->sites && row < summary_rows(summary, SUMMARY_sites); row++)
        if (is_site_of(set, highest, row))
            run->sites[run->site_count++] = (struct history_site){
                arena_copy(arena, summary_text_at(summary, COLUMN_sites_site, row)),
                summary_bytes(summary, COLUMN_sites_peak_bytes, row)};
}

static void keep_leaks(struct reading *reading)
{
    struct arena *arena = &reading->history->arena;
    struct history_run *run = reading->run;
    struct rank_leak *leaks;
    size_t count;

    if (!rank_find_leaks(&reading->rows.set, &reading->rows.set.arena, &leaks, &count)) {
        arena->has_failed = true;
        return;
    }
    run->leaks = arena_alloc(arena, (count + 1) * sizeof(*run->leaks));
    for (size_t i = 0; run->leaks && i < count; i++)
        run->leaks[run->leak_count++] = arena_copy(arena, leaks[i].site);
}

static enum history_state state_of(struct reading *reading)
{
    struct rank_death death;

    if (reading->run->leak_count)
        return HISTORY_LEAKS;
    if (rank_find_failures(&reading->rows.set).rank_count)
        return HISTORY_REFUSED;
    if (!rank_find_death(&reading->rows.set, &death))
        reading->history->arena.has_failed = true;
    else if (death.first)
        return HISTORY_DIED;
    return rank_run_missing(&reading->rows, &reading->rows.set.arena) ? HISTORY_INCOMPLETE
                                                                      : HISTORY_GOOD;
}

static enum mt_result keep_run(struct history *history, struct history_run *run,
                               struct mt_error *error)
{
    struct reading reading = {.history = history, .run = run};
    enum mt_result result;

    rank_run_init(&reading.rows);
    result = rank_run_read(&reading.rows, run->path, error);
    if (result == MT_OK) {
        keep_figures(&reading);
        keep_highest(&reading);
        keep_leaks(&reading);
        run->state = state_of(&reading);
    }
    if (!history->unread_count && reading.rows.unread_count)
        history->first_unread = arena_copy(&history->arena, reading.rows.first_unread);
    history->unread_count += reading.rows.unread_count;
    rank_run_release(&reading.rows);
    return result;
}

/* --- each against those before it --------------------------------------------------------------
 */

static int run_compare(const void *left, const void *right)
{
    const struct history_run *a = left, *b = right;

    if (a->start_realtime_ns != b->start_realtime_ns)
        return a->start_realtime_ns < b->start_realtime_ns ? -1 : 1;
    return strcmp(a->path, b->path);
}

/* spare: room for `last` numbers. */
static void find_base(const struct history *history, size_t index, size_t last, uint64_t *spare)
{
    struct history_run *run = &history->runs[index];

    for (size_t i = index; i-- > 0 && run->base_count < last;) {
        const struct history_run *before = &history->runs[i];

        if (before->state != HISTORY_GOOD || strcmp(before->pool, run->pool) != 0)
            continue;
        if (!run->base_count)
            run->base_last = i;
        spare[run->base_count++] = before->peak_bytes;
    }
    if (!run->base_count)
        return;
    run->base_median = rank_median(spare, run->base_count);
    run->base_low = spare[0]; /* sorted now */
    run->base_high = spare[run->base_count - 1];
}

/* By a twentieth and 1 MiB, and by twice of what the good runs differ. */
static bool has_grown(const struct history_run *run)
{
    uint64_t gap = run->peak_bytes > run->base_median ? run->peak_bytes - run->base_median : 0;

    return run->base_count && gap >= RANK_LEAST_BYTES && gap > run->base_median / RANK_SHARE &&
           gap / 2 >= run->base_high - run->base_low;
}

static enum mt_result judge_runs(struct history *history, size_t last, struct mt_error *error)
{
    uint64_t *spare = arena_alloc(
        &history->arena, (last < history->count ? last : history->count) * sizeof(*spare) + 1);

    qsort(history->runs, history->count, sizeof(*history->runs), run_compare);
    for (size_t i = 0; spare && i < history->count; i++) {
        struct history_run *run = &history->runs[i];

        find_base(history, i, last, spare);
        if ((run->state == HISTORY_GOOD || run->state == HISTORY_INCOMPLETE) && has_grown(run))
            run->state = HISTORY_GREW;
    }
    if (MT_ASSERTS && !history->arena.has_failed)
        history_check(history);
    return history->arena.has_failed ? mt_error_set(error, MT_NO_MEMORY, "no memory for a history")
                                     : MT_OK;
}

enum mt_result history_read(const char *const *paths, size_t count, size_t last,
                            struct history *history, struct mt_error *error)
{
    enum mt_result result = MT_OK;
    size_t capacity = 0;

    *history = (struct history){.count = 0};
    arena_init(&history->arena);
    for (size_t i = 0; result == MT_OK && i < count; i++)
        result = find_runs(history, &capacity, paths[i], error);
    if (result == MT_OK && !history->count)
        result = mt_error_set(error, MT_NO_DATA, "%s: there is no summary", count ? paths[0] : "");
    for (size_t i = 0; result == MT_OK && i < history->count; i++)
        result = keep_run(history, &history->runs[i], error);
    return result == MT_OK ? judge_runs(history, last, error) : result;
}

static void base_check(const struct history *history, size_t index)
{
    const struct history_run *run = &history->runs[index];

    MT_ASSERT(run->base_count <= index);
    if (!run->base_count)
        return;
    MT_ASSERT(run->base_last < index);
    MT_ASSERT(history->runs[run->base_last].state == HISTORY_GOOD);
    MT_ASSERT(run->base_low <= run->base_median);
    MT_ASSERT(run->base_median <= run->base_high);
}

void history_check(const struct history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        const struct history_run *run = &history->runs[i];

        MT_ASSERT(!i || history->runs[i - 1].start_realtime_ns <= run->start_realtime_ns);
        MT_ASSERT(run->median_bytes <= run->peak_bytes);
        MT_ASSERT(run->state != HISTORY_LEAKS || run->leak_count);
        MT_ASSERT(run->state != HISTORY_GREW || run->base_count);
        base_check(history, i);
    }
}

void history_release(struct history *history)
{
    free(history->runs);
    arena_release(&history->arena);
}
