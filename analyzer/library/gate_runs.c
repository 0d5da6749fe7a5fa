/* SPDX-License-Identifier: Apache-2.0 */
#include "gate_runs.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "rank_history.h"

enum mt_result gate_run_read(struct rank_run *run, const char *path, struct mt_error *error)
{
    size_t count = 0;

    while (gate_columns[count] != SUMMARY_COLUMN_COUNT)
        count++;
    rank_run_init(run);
    rank_set_want(&run->set, gate_columns, count);
    return rank_run_read(run, path, error);
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat left, right;

    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

static bool is_judged(const char *path, const char *const *judged, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_same_folder(path, judged[i]))
            return true;
    return false;
}

/* Fills chosen, the newest first. */
static size_t choose(const struct history *history, size_t most, const char *const *judged,
                     size_t judged_count, const char **chosen)
{
    size_t count = 0;

    for (size_t i = history->count; i-- > 0 && count < most;)
        if (history->runs[i].state == HISTORY_GOOD &&
            !is_judged(history->runs[i].path, judged, judged_count))
            chosen[count++] = history->runs[i].path;
    return count;
}

static enum mt_result measure_runs(const char *const *paths, size_t count,
                                   struct measures *measures, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    for (size_t i = 0; result == MT_OK && i < count; i++) {
        struct rank_run run;

        result = gate_run_read(&run, paths[i], error);
        if (result == MT_OK)
            measures_add_summary(measures, &run.set.summary, i);
        rank_run_release(&run);
    }
    if (result == MT_OK && measures->arena.has_failed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to judge");
    return result;
}

static enum mt_result baseline_of(const char *folder, const char *const *paths, size_t count,
                                  struct baseline_file **out, struct mt_error *error)
{
    struct measures measures;
    enum mt_result result;

    measures_init(&measures, count);
    result = measure_runs(paths, count, &measures, error);
    if (result == MT_OK)
        result = baseline_of_measures(&measures, folder, out, error);
    measures_release(&measures);
    return result;
}

enum mt_result gate_baseline_of_runs(const char *folder, size_t most, const char *const *judged,
                                     size_t judged_count, struct baseline_file **out,
                                     struct mt_error *error)
{
    struct history history;
    const char **chosen;
    size_t count = 0;
    enum mt_result result;

    most = most ? most : HISTORY_LAST_USUAL;
    result = history_read(&folder, 1, most, &history, error);
    chosen = result == MT_OK ? calloc(history.count + 1, sizeof(*chosen)) : NULL;
    if (result == MT_OK && !chosen)
        result = mt_error_set(error, MT_NO_MEMORY, "no memory to judge");
    if (result == MT_OK)
        count = choose(&history, most, judged, judged_count, chosen);
    *out = NULL;
    if (count)
        result = baseline_of(folder, chosen, count, out, error);
    free(chosen);
    history_release(&history);
    return result;
}
