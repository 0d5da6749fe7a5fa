/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was asked for, and the way of a row into its file.
 */
#include "dump_state.h"

bool dump_is_device_chosen(const struct dump_write *what, int32_t device)
{
    if (device == MEMSCOPE_DEVICE_CPU)
        return what->has_cpu;
    if (device < 0)
        return true;
    return what->has_all_devices || (device < DUMP_DEVICES && what->devices >> device & 1);
}

bool dump_is_step_chosen(const struct dump_state *state)
{
    const struct dump_write *what = state->what;

    for (size_t i = 0; i < what->step_count; i++)
        if (state->steps.is_open && what->steps[i] == state->steps.newest)
            return true;
    return !what->steps;
}

enum mt_result dump_emit(struct dump_state *state, struct memscope_row *row, bool is_written,
                         struct mt_error *error)
{
    row->id = state->next_id++;
    if (state->findings.is_looking || !is_written)
        return MT_OK;
    state->facts->row_count++;
    return dump_files_write(&state->files, row, error);
}
