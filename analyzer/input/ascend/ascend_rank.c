/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the files of a rank to its streams: which to read, and what they say about each other.
 */
#include "ascend_rank.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascend_csv.h"
#include "ascend_database.h"
#include "ascend_info.h"
#include "ascend_mstx.h"
#include "ascend_steps.h"
#include "path_text.h"

/* A file that cannot be read is left out, unless there is no memory. */
static enum mt_result leave_out(struct ascend_rank_files *rank, enum mt_result result,
                                const struct mt_error *trouble, struct mt_error *error)
{
    if (result == MT_NO_MEMORY)
        return mt_error_set(error, result, "%s", trouble->message);
    if (result != MT_OK && !rank->bad_count++) {
        rank->first_bad_result = result;
        rank->first_bad = *trouble;
    }
    return MT_OK;
}

static void add_stream(struct ascend_rank_files *rank)
{
    const struct ascend_stream *stream = &rank->streams[rank->stream_count++];

    if (stream->first_ns < rank->first_ns)
        rank->first_ns = stream->first_ns;
    if (stream->last_ns > rank->last_ns)
        rank->last_ns = stream->last_ns;
}

static struct ascend_paths paths_of(const struct ascend_found *found, enum ascend_file kind)
{
    return (struct ascend_paths){found->files[kind].paths, found->files[kind].count};
}

/* --- csv ----------------------------------------------------------------------------------- */

static enum mt_result look_ahead(struct ascend_rank_files *rank, const struct ascend_found *found,
                                 struct mt_error *error)
{
    struct ascend_paths operators = paths_of(found, ASCEND_OPERATOR_MEMORY);
    struct ascend_paths records = paths_of(found, ASCEND_MEMORY_RECORD);
    struct ascend_total reserved = {0};
    struct ascend_record_facts facts = {0};
    bool is_mindspore = false;
    struct mt_error trouble = {.message = ""};
    enum mt_result result = MT_OK;

    /* Trouble with a file is told when it is opened to be read. */
    if (operators.count)
        ascend_operator_look(operators.paths[0], &reserved, &is_mindspore, NULL);
    if (records.count)
        result = ascend_record_look(rank->facts.model, records, reserved, &facts, &trouble);
    if (result == MT_NO_MEMORY)
        return mt_error_set(error, result, "%s", trouble.message);
    rank->workspace_times = facts.workspace_times;
    rank->facts.is_mindspore |= is_mindspore || facts.is_mindspore;
    rank->facts.record_megabyte = facts.megabyte;
    rank->facts.workspace_times = facts.workspace_times;
    rank->facts.workspace_count = facts.workspace_count;
    return MT_OK;
}

static enum mt_result open_csv(struct ascend_rank_files *rank, const struct ascend_found *found,
                               struct mt_error *error)
{
    static const struct {
        enum ascend_file kind;
        enum mt_result (*open)(const struct ascend_rank *rank, struct ascend_paths paths,
                               struct ascend_stream *stream, struct mt_error *error);
    } kinds[] = {
        {ASCEND_MEMORY_RECORD, ascend_record_csv}, /* first: the others ask whether it is there */
        {ASCEND_OPERATOR_MEMORY, ascend_operator_csv},
        {ASCEND_MODULE_MEM, ascend_module_csv},
        {ASCEND_NPU_MEM, ascend_npu_mem_csv},
    };
    enum mt_result result = look_ahead(rank, found, error);

    for (size_t i = 0; result == MT_OK && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct ascend_paths paths = paths_of(found, kinds[i].kind);
        struct ascend_stream *stream = &rank->streams[rank->stream_count];
        struct mt_error trouble;

        if (!paths.count)
            continue;
        result = kinds[i].open(&rank->facts, paths, stream, &trouble);
        if (result == MT_OK) {
            if (kinds[i].kind == ASCEND_MEMORY_RECORD && stream->first_ns != UINT64_MAX)
                rank->facts.has_record = true;
            add_stream(rank);
        } else {
            result = leave_out(rank, result, &trouble, error);
        }
    }
    if (paths_of(found, ASCEND_OPERATOR_MEMORY).count)
        model_note(rank->facts.model, 0,
                   "operator_memory.csv has no addresses: each row counts as one block");
    return result;
}

/* --- databases ----------------------------------------------------------------------------- */

static enum mt_result open_database(struct ascend_rank_files *rank, const char *path,
                                    struct mt_error *error)
{
    struct ascend_record_facts facts;
    struct ascend_stream streams[ASCEND_DATABASE_STREAMS];
    size_t count = 0;
    int32_t number;
    struct mt_error trouble;
    enum mt_result result = ascend_database_look(path, rank->facts.model, &facts,
                                                 &rank->facts.has_record, &number, &trouble);

    if (result != MT_OK)
        return leave_out(rank, result, &trouble, error);
    free(rank->workspace_times);
    rank->workspace_times = facts.workspace_times;
    rank->facts.workspace_times = facts.workspace_times;
    rank->facts.workspace_count = facts.workspace_count;
    rank->facts.is_mindspore |= facts.is_mindspore;
    if (rank->process.rank < 0)
        rank->process.rank = number;
    result = ascend_database_streams(path, &rank->facts, streams, &count, &trouble);
    if (result != MT_OK)
        return leave_out(rank, result, &trouble, error);
    for (size_t i = 0; i < count; i++) {
        rank->streams[rank->stream_count] = streams[i];
        add_stream(rank);
    }
    if (count)
        model_note(rank->facts.model, 0,
                   "the database has no addresses: each row counts as one block");
    return MT_OK;
}

/* --- steps --------------------------------------------------------------------------------- */

/* Kernels run later than the allocations made for them: between steps that blurs the border, and
 * with one step there is no border to speak of. */
static void judge_kernel_steps(struct model *model, struct ascend_steps *steps)
{
    if (steps->count > 1) {
        model_note(model, 0,
                   "steps are guessed from kernel_details.csv: the device's clock, which runs "
                   "later than the allocations of a step");
        return;
    }
    if (steps->count)
        model_note(model, 0,
                   "one step, %" PRIu64 ", known from kernel_details.csv only, by the device's "
                   "clock: it is not used",
                   steps->rows[0].number);
    ascend_steps_release(steps);
}

/* Steps may be in any of the files of these kinds. */
static enum mt_result steps_of_kind(const struct ascend_found *found, enum ascend_file kind,
                                    enum mt_result (*read)(const char *path,
                                                           struct ascend_steps *steps,
                                                           struct mt_error *error),
                                    struct ascend_steps *steps, struct mt_error *error)
{
    struct ascend_paths paths = paths_of(found, kind);
    enum mt_result result = MT_OK;

    for (size_t i = 0; result == MT_OK && i < paths.count; i++)
        result = read(paths.paths[i], steps, error);
    return result;
}

static void judge_mstx_steps(struct model *model, struct ascend_steps *steps)
{
    ascend_mstx_number(steps);
    if (steps->count)
        model_note(model, 0, "steps are the ranges of mstx that are called a step");
}

/* The best source that has any is taken. */
static enum mt_result find_steps(struct model *model, const struct ascend_found *found,
                                 struct ascend_steps *steps, struct mt_error *error)
{
    static const struct {
        enum ascend_file kind;
        enum mt_result (*read)(const char *path, struct ascend_steps *steps,
                               struct mt_error *error);
        void (*judge)(struct model *model, struct ascend_steps *steps); /* may be NULL */
    } sources[] = {
        {ASCEND_DATABASE, ascend_steps_from_database, NULL},
        {ASCEND_TRACE_VIEW, ascend_steps_from_trace_view, NULL},
        {ASCEND_DATABASE, ascend_steps_from_mstx_table, judge_mstx_steps},
        {ASCEND_MSPROF_TX, ascend_steps_from_mstx_csv, judge_mstx_steps},
        {ASCEND_KERNEL_DETAILS, ascend_steps_from_kernels, judge_kernel_steps},
    };
    enum mt_result result = MT_OK;

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]) && !steps->count; i++) {
        result = steps_of_kind(found, sources[i].kind, sources[i].read, steps, error);
        if (result != MT_OK)
            return result;
        if (sources[i].judge)
            sources[i].judge(model, steps);
    }
    return result;
}

static enum mt_result open_steps(struct ascend_rank_files *rank, const struct ascend_found *found,
                                 struct mt_error *error)
{
    struct ascend_steps steps = {.model = rank->facts.model};
    struct mt_error trouble;
    enum mt_result result = find_steps(rank->facts.model, found, &steps, &trouble);

    if (result != MT_OK)
        result = leave_out(rank, result, &trouble, error);
    if (result == MT_OK && steps.count) {
        result = ascend_steps_stream(rank->facts.model, &steps, &rank->streams[rank->stream_count],
                                     error);
        if (result == MT_OK)
            add_stream(rank);
    } else if (result == MT_OK) {
        model_note(rank->facts.model, 0,
                   found->files[ASCEND_STEP_TRACE].count
                       ? "no steps: step_trace_time.csv has durations only"
                       : "no steps in these files");
    }
    ascend_steps_release(&steps);
    return result;
}

/* --- the process --------------------------------------------------------------------------- */

/* host_4711_20250109144402123_ascend_pt: 4711; 0 where the name does not tell. */
static uint64_t process_id_of(const char *root)
{
    char parts[256];
    char *end, *number;
    uint64_t process_id;

    snprintf(parts, sizeof(parts), "%s", path_base(root));
    end = strstr(parts, "_ascend_");
    if (!end)
        return 0;
    *end = '\0';
    end = strrchr(parts, '_');
    if (!end)
        return 0;
    *end = '\0';
    number = strrchr(parts, '_');
    process_id = strtoull(number ? number + 1 : "", &end, 10);
    return *end ? 0 : process_id;
}

/* rank2_start5_stop9, rank-2_20250109144402123_ascend_ms, rank_2: the last such folder's number;
 * -1 where there is none. */
static int32_t rank_of_path(const char *path)
{
    int32_t rank = -1;

    for (const char *part = path; part; part = strchr(part, '/')) {
        const char *number;

        part += *part == '/';
        if (strncmp(part, "rank", 4) != 0)
            continue;
        number = part + 4 + (part[4] == '_' || part[4] == '-');
        if (*number >= '0' && *number <= '9' && strtoul(number, NULL, 10) <= INT32_MAX)
            rank = (int32_t)strtoul(number, NULL, 10);
    }
    return rank;
}

static void describe(struct ascend_rank_files *rank, const struct ascend_found *found)
{
    struct model *model = rank->facts.model;
    struct ascend_info info;

    ascend_info_read(model, found->root, &info);
    if (info.rank < 0 && strcmp(found->root, found->folder) != 0) {
        struct ascend_info inner;

        ascend_info_read(model, found->folder, &inner);
        info.rank = inner.rank;
    }
    rank->last_rank = info.metadata_rank >= 0 ? info.metadata_rank : rank_of_path(found->root);
    rank->facts.is_mindspore = info.is_mindspore || strstr(found->root, "_ascend_ms");
    rank->process = (struct model_process){
        .is_window = true,
        .process_id = process_id_of(found->root),
        .source = model_text(model, found->name, strlen(found->name)),
        .options = model_text(model, info.software, strlen(info.software)),
        .rank = info.rank >= 0 ? info.rank : found->rank,
        .is_complete = true,
        .blocks_are_rows = true,
    };
}

static void start(struct ascend_rank_files *rank, struct model *model,
                  const struct ascend_found *found)
{
    memset(rank, 0, sizeof(*rank));
    rank->facts.model = model;
    rank->facts.record_megabyte = 1 << 20;
    rank->first_ns = UINT64_MAX;
    describe(rank, found);
}

enum mt_result ascend_plan_open(struct ascend_rank_files *rank, struct model *model,
                                const struct ascend_found *found, enum ascend_file kind,
                                struct mt_error *error)
{
    struct mt_error trouble;
    enum mt_result result;

    start(rank, model, found);
    rank->is_plan = true;
    result = (kind == ASCEND_MEMORY_BLOCK ? ascend_block_csv : ascend_static_csv)(
        &rank->facts, paths_of(found, kind), rank->streams, &trouble);
    if (result != MT_OK)
        return leave_out(rank, result, &trouble, error);
    add_stream(rank);
    return MT_OK;
}

enum mt_result ascend_rank_open(struct ascend_rank_files *rank, struct model *model,
                                const struct ascend_found *found, struct mt_error *error)
{
    enum mt_result result;

    start(rank, model, found);
    if (found->older_count)
        model_note(model, found->older_count,
                   "files left out: the same was written again later, under a newer time");
    if (found->copy_count)
        model_note(model, found->copy_count,
                   "files left out: one of their kind has its usual name, and they may be copies");
    result = open_csv(rank, found, error);
    if (result == MT_OK && !rank->stream_count && found->files[ASCEND_DATABASE].count)
        result = open_database(rank, found->files[ASCEND_DATABASE].paths[0], error);
    if (rank->process.rank < 0)
        rank->process.rank = rank->last_rank;
    if (result == MT_OK && rank->stream_count)
        result = open_steps(rank, found, error);
    return result;
}

void ascend_rank_close(struct ascend_rank_files *rank)
{
    for (size_t i = 0; i < rank->stream_count; i++)
        rank->streams[i].close(rank->streams[i].state);
    free(rank->workspace_times);
    memset(rank, 0, sizeof(*rank));
}
