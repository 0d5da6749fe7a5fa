/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of what the program runs: operators and kernels, ranges and marks, the runtime itself.
 */
#include <stdlib.h>
#include <string.h>

#include "dump_state.h"

static bool is_level_chosen(const struct dump_write *what, const char *event)
{
    uint32_t level = strcmp(event, "OP_LAUNCH") == 0 ? DUMP_BIT_OP : DUMP_BIT_KERNEL;

    return (what->levels & level) != 0;
}

enum mt_result dump_take_launch(struct dump_state *state, const struct memscope_row *row,
                                struct mt_error *error)
{
    const struct inefficiency_event told = {.event = dump_event_named(row->event, row->type),
                                            .pool = dump_pool_named(row->type),
                                            .name = row->name};
    struct memscope_row made = *row;

    if (!dump_findings_take(&state->findings, &told))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for operators");
    if (!dump_collects(state, DUMP_BIT_LAUNCH) || !is_level_chosen(state->what, row->event) ||
        !dump_is_step_chosen(state))
        return MT_OK;
    return dump_emit(state, &made, dump_writes(state, DUMP_BIT_LAUNCH), error);
}

static void on_range_begin(struct dump_state *state, const struct memscope_row *row)
{
    state->range_count++;
    if (strcmp(row->name, "step start") != 0)
        return;
    dump_step_begin(&state->steps);
    state->step_range = state->range_count;
}

/* Of the range that is a step. */
static bool is_end_of_step(const struct dump_state *state, const struct memscope_row *row)
{
    const char *number = strrchr(row->name, ' ');

    return state->step_range && number && strtoull(number, NULL, 10) == state->step_range;
}

/* Steps are ranges of one name; ranges are numbered in the order of their beginnings. */
enum mt_result dump_take_mstx(struct dump_state *state, const struct memscope_row *row,
                              struct mt_error *error)
{
    struct memscope_row made = *row;
    bool is_chosen;

    if (strcmp(row->type, "Range_start") == 0)
        on_range_begin(state, row);
    is_chosen = dump_is_step_chosen(state);
    if (strcmp(row->type, "Range_end") == 0 && is_end_of_step(state, row)) {
        dump_step_end(&state->steps);
        state->step_range = 0;
        is_chosen &= !(state->what->is_strict && state->what->steps); /* the tool loses it */
    }
    return is_chosen ? dump_emit(state, &made, true, error) : MT_OK;
}

enum mt_result dump_take_system(struct dump_state *state, const struct memscope_row *row,
                                struct mt_error *error)
{
    const struct inefficiency_event told = {.event = dump_event_named(row->event, row->type)};
    struct memscope_row made = *row;

    if (!dump_findings_take(&state->findings, &told))
        return mt_error_set(error, MT_NO_MEMORY, "no memory for live blocks");
    if (strcmp(row->type, "STEP") == 0)
        dump_step_end(&state->steps);
    return state->what->steps ? MT_OK : dump_emit(state, &made, true, error);
}
