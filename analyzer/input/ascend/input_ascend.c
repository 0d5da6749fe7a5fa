/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of the Ascend PyTorch Profiler, the MindSpore Profiler and msprof as an input: a folder
 * of it, a folder of ranks, or one of its files.
 *
 * All ranks are opened at the start, so that processes come in order of rank and share one time
 * line. Rows are then read rank by rank.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ascend_classify.h"
#include "ascend_explain.h"
#include "ascend_rank.h"
#include "ascend_replay.h"
#include "ascend_runs.h"
#include "input_kinds.h"

struct ascend_run {
    struct model *model;
    struct ascend_search search;
    struct ascend_rank_files *ranks;
    size_t rank_count;
    uint16_t *processes; /* one per rank */
    uint64_t origin_ns;
    size_t next_rank;
    bool is_rank_open;
    struct ascend_replay replay;
};

static void note_without_memory(struct model *model)
{
    model_note(model, 1, "ranks without files of memory");
}

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int ascend_recognises(const char *path)
{
    struct ascend_search search;
    enum ascend_file kind;
    bool has_memory = false;

    if (!is_folder(path))
        return ascend_classify(path, &kind);
    if (ascend_search(path, &search, NULL) != MT_OK)
        return 0;
    for (size_t i = 0; i < search.count; i++)
        has_memory |= ascend_has_memory(&search.ranks[i]);
    ascend_search_release(&search);
    return has_memory;
}

/* --- opening ------------------------------------------------------------------------------- */

static void ascend_close(void *state)
{
    struct ascend_run *run = state;

    if (!run)
        return;
    ascend_replay_release(&run->replay);
    for (size_t i = 0; run->ranks && i < run->rank_count; i++)
        ascend_rank_close(&run->ranks[i]);
    free(run->ranks);
    free(run->processes);
    ascend_search_release(&run->search);
    free(run);
}

static enum mt_result find_files(struct ascend_run *run, const char *path, struct mt_error *error)
{
    enum ascend_file kind;

    if (is_folder(path))
        return ascend_search(path, &run->search, error);
    if (!ascend_classify(path, &kind))
        return mt_error_set(error, MT_UNSUPPORTED, "%s: no file of an Ascend profile", path);
    return ascend_search_file(path, kind, &run->search, error);
}

static int compare_ranks(const void *left, const void *right)
{
    const struct ascend_rank_files *const *a = left, *const *b = right;

    if ((*a)->is_plan != (*b)->is_plan)
        return (*a)->is_plan ? 1 : -1;
    if ((*a)->process.rank != (*b)->process.rank)
        return (*a)->process.rank < (*b)->process.rank ? -1 : 1;
    if ((*a)->first_ns != (*b)->first_ns)
        return (*a)->first_ns < (*b)->first_ns ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

/* Where time 0 of the rank's events is. */
static uint64_t origin_of(const struct ascend_run *run, const struct ascend_rank_files *rank)
{
    return rank->is_plan ? 0 : run->origin_ns;
}

/* Rows of the model, in order of rank. */
static enum mt_result add_processes(struct ascend_run *run, struct mt_error *error)
{
    struct ascend_rank_files **order =
        malloc((run->rank_count + 1) * sizeof(struct ascend_rank_files *));

    run->processes = calloc(run->rank_count + 1, sizeof(*run->processes));
    if (!order || !run->processes) {
        free(order);
        return mt_error_set(error, MT_NO_MEMORY, "no memory for %zu ranks", run->rank_count);
    }
    for (size_t i = 0; i < run->rank_count; i++)
        order[i] = &run->ranks[i];
    qsort(order, run->rank_count, sizeof(struct ascend_rank_files *), compare_ranks);
    for (size_t i = 0; i < run->rank_count; i++) {
        struct model_process *process = &order[i]->process;

        if (!order[i]->stream_count || order[i]->first_ns == UINT64_MAX)
            continue;
        process->start_realtime_ns = order[i]->first_ns;
        process->start_ns = order[i]->first_ns - origin_of(run, order[i]);
        process->end_ns = order[i]->last_ns - origin_of(run, order[i]);
        run->processes[order[i] - run->ranks] = model_process(run->model, process);
    }
    free(order);
    return model_status(run->model, error);
}

/* Ranks whose files all failed are no reason to refuse the others. */
static enum mt_result check_ranks(struct ascend_run *run, const char *path, struct mt_error *error)
{
    const struct ascend_rank_files *bad = NULL;
    uint64_t bad_count = 0;
    bool has_rows = false, has_tables = false;
    enum mt_result result = MT_OK;

    for (size_t i = 0; i < run->rank_count; i++) {
        const struct ascend_rank_files *rank = &run->ranks[i];

        has_tables |= rank->stream_count > 0;
        if (!rank->stream_count && !rank->bad_count)
            note_without_memory(run->model);
        has_rows |= rank->stream_count > 0 && rank->first_ns != UINT64_MAX;
        bad_count += rank->bad_count;
        if (rank->bad_count && !bad)
            bad = rank;
        if (!rank->is_plan && rank->first_ns < run->origin_ns)
            run->origin_ns = rank->first_ns;
    }
    if (!has_rows && bad)
        return mt_error_set(error, bad->first_bad_result, "%s", bad->first_bad.message);
    if (!has_tables)
        result = ascend_explain(path, error);
    if (result != MT_OK)
        return result;
    if (!has_rows)
        return mt_error_set(error, MT_NO_DATA, "%s: no usable rows of memory", path);
    if (bad) {
        model_note(run->model, bad_count, "files that could not be read; the first: %s",
                   bad->first_bad.message);
        model_set_incomplete(run->model);
    }
    return MT_OK;
}

/* Plans have no times. */
static enum mt_result check_runs(const struct ascend_run *run, const char *path,
                                 struct mt_error *error)
{
    struct ascend_rank_files **timed =
        malloc((run->rank_count + 1) * sizeof(struct ascend_rank_files *));
    enum mt_result result;
    size_t count = 0;

    if (!timed)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for %zu ranks", run->rank_count);
    for (size_t i = 0; i < run->rank_count; i++)
        if (!run->ranks[i].is_plan && run->ranks[i].stream_count &&
            run->ranks[i].first_ns != UINT64_MAX)
            timed[count++] = &run->ranks[i];
    result = ascend_runs_check(run->model, timed, count, path, error);
    free(timed);
    return result;
}

static enum mt_result open_ranks(struct ascend_run *run, struct mt_error *error)
{
    static const enum ascend_file plans[] = {ASCEND_STATIC_OP_MEM, ASCEND_MEMORY_BLOCK};
    enum mt_result result = MT_OK;

    run->ranks = calloc(3 * run->search.count + 1, sizeof(*run->ranks)); /* ranks and plans */
    if (!run->ranks)
        return mt_error_set(error, MT_NO_MEMORY, "no memory for %zu ranks", run->search.count);
    for (size_t i = 0; result == MT_OK && i < run->search.count; i++) {
        const struct ascend_found *found = &run->search.ranks[i];

        if (!ascend_has_memory(found)) {
            note_without_memory(run->model);
            continue;
        }
        result = ascend_rank_open(&run->ranks[run->rank_count++], run->model, found, error);
        for (size_t k = 0; k < sizeof(plans) / sizeof(plans[0]); k++)
            if (result == MT_OK && found->files[plans[k]].count)
                result = ascend_plan_open(&run->ranks[run->rank_count++], run->model, found,
                                          plans[k], error);
    }
    return result;
}

static enum mt_result ascend_open(const char *path, struct model *model, void **state,
                                  struct mt_error *error)
{
    struct ascend_run *run = calloc(1, sizeof(*run));
    enum mt_result result;

    if (!run)
        return mt_error_set(error, MT_NO_MEMORY, "no memory to open %s", path);
    run->model = model;
    run->origin_ns = UINT64_MAX;
    result = find_files(run, path, error);
    if (result == MT_OK)
        result = open_ranks(run, error);
    if (result == MT_OK)
        result = check_ranks(run, path, error);
    if (result == MT_OK)
        result = check_runs(run, path, error);
    if (result == MT_OK)
        result = add_processes(run, error);
    if (result != MT_OK) {
        ascend_close(run);
        return result;
    }
    *state = run;
    return MT_OK;
}

/* --- reading ------------------------------------------------------------------------------- */

static enum mt_result ascend_next(void *state, struct event *batch, size_t capacity, size_t *count,
                                  struct mt_error *error)
{
    struct ascend_run *run = state;

    *count = 0;
    while (capacity && !*count) {
        struct ascend_rank_files *rank = &run->ranks[run->next_rank];
        struct model_process *process;
        enum mt_result result;

        if (run->next_rank == run->rank_count)
            return MT_OK;
        if (!run->is_rank_open)
            ascend_replay_init(&run->replay, run->model, run->processes[run->next_rank],
                               origin_of(run, rank), rank->streams, rank->stream_count);
        run->is_rank_open = true;
        result = ascend_replay_next(&run->replay, batch, capacity, count, error);
        if (result != MT_OK)
            return result;
        process = model_process_fill(run->model, run->processes[run->next_rank]);
        process->event_count += *count;
        if (*count && batch[*count - 1].time_ns > process->end_ns)
            process->end_ns = batch[*count - 1].time_ns; /* a release after the last row */
        if (!*count) {
            ascend_replay_release(&run->replay);
            ascend_rank_close(rank);
            run->is_rank_open = false;
            run->next_rank++;
        }
    }
    return MT_OK;
}

const struct input_kind input_ascend = {
    .name = "Ascend profile",
    .contents = "blocks with their operator, counters of pools, modules and the process; no call "
                "stacks, no addresses, steps where the profile has them",
    .recognises = ascend_recognises,
    .open = ascend_open,
    .next = ascend_next,
    .close = ascend_close,
};
