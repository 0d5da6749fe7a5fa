/* SPDX-License-Identifier: Apache-2.0 */
#include "rank_run.h"

#include <inttypes.h>

#include "rank_findings.h"
#include "sentence.h"
#include "summary_files.h"

void rank_run_init(struct rank_run *run)
{
    *run = (struct rank_run){.first_unread = ""};
    rank_set_init(&run->set, true);
}

void rank_run_release(struct rank_run *run)
{
    rank_set_release(&run->set);
}

static void note_unread(struct rank_run *run, const char *why)
{
    if (!run->unread_count++)
        run->first_unread = arena_copy(&run->set.arena, why);
}

static enum mt_result read_folders(struct rank_run *run, struct summary_reader *reader,
                                   const struct summary_folders *folders, struct mt_error *error)
{
    struct mt_error why;

    for (size_t i = 0; i < folders->count; i++) {
        enum mt_result one = summary_read(reader, folders->paths[i], &run->set.summary, &why);

        if (one == MT_NO_MEMORY)
            return mt_error_set(error, one, "%s", why.message);
        if (one == MT_OK)
            rank_set_take(&run->set);
        else
            note_unread(run, why.message);
    }
    for (size_t i = 0; i < folders->unfinished_count; i++)
        note_unread(run, folders->unfinished[i]);
    return rank_set_finish(&run->set)
               ? MT_OK
               : mt_error_set(error, MT_NO_MEMORY, "no memory to compare ranks");
}

enum mt_result rank_run_read(struct rank_run *run, const char *path, struct mt_error *error)
{
    struct summary_folders folders;
    struct summary_reader *reader = NULL;
    enum mt_result result;

    summary_folders_init(&folders);
    result = summary_folders_find(path, &folders, error);
    summary_folders_sort(&folders);
    if (result == MT_OK)
        result = summary_reader_create(&reader, error);
    if (result == MT_OK)
        result = read_folders(run, reader, &folders, error);
    summary_reader_destroy(reader);
    summary_folders_release(&folders);
    return result;
}

/* The first whose recording was not whole. */
static const struct rank *first_torn(const struct rank_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (!summary_number(&set->summary, COLUMN_ranks_is_complete, set->ranks[i].row))
            return &set->ranks[i];
    return NULL;
}

const char *rank_run_missing(const struct rank_run *run, struct arena *arena)
{
    struct rank_gaps gaps = rank_find_gaps(&run->set);
    const struct rank *torn = first_torn(&run->set);

    if (run->unread_count)
        return sentence(arena, "%zu summaries could not be read; the first: %s", run->unread_count,
                        run->first_unread);
    if (!run->set.count)
        return translated("there is no rank");
    if (gaps.world_size && gaps.count)
        return sentence(arena, "%zu of %" PRIu64 " ranks are not there; the first: %" PRId64,
                        gaps.count, gaps.world_size, gaps.first[0]);
    return torn ? sentence(arena, "the recording of %s is not whole",
                           rank_label(&run->set, arena, torn))
                : NULL;
}
