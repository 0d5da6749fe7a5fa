/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a request that failed: what its pool held, itself, the newest and the largest blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "dump_attributes.h"
#include "dump_state.h"

static struct memscope_row row_of(const struct memscope_row *trigger,
                                  const struct dump_block *block, enum dump_order order)
{
    struct memscope_row row = *trigger;

    row.type = order == DUMP_BY_TIME ? "OOM_RECENT_ALLOC" : "OOM_TOP_ALLOC";
    row.name = order == DUMP_BY_TIME ? "OOM_RecentAlloc" : "OOM_TopAlloc";
    row.python_stack = row.c_stack = "";
    row.attribute_count = 0;
    memscope_text(&row, "pool", block->type);
    memscope_address(&row, "ptr", block->address);
    memscope_number(&row, "size", block->size_bytes);
    memscope_number(&row, "timestamp", block->time_ns);
    return row;
}

static enum mt_result emit_top(struct dump_state *state, const struct memscope_row *trigger,
                               enum dump_order order, struct mt_error *error)
{
    uint32_t most = state->what->oom_top;
    const struct dump_block **top = malloc((most + 1) * sizeof(struct dump_block *));
    size_t count = top ? dump_blocks_top(&state->blocks, order, top, most) : 0;
    enum mt_result result =
        top ? MT_OK : mt_error_set(error, MT_NO_MEMORY, "no memory for a list of blocks");

    for (size_t i = 0; result == MT_OK && i < count; i++) {
        struct memscope_row row = row_of(trigger, top[i], order);

        result = dump_emit(state, &row, true, error);
    }
    free(top);
    return result;
}

/* Of the driver: a runtime above it fails with it. */
enum mt_result dump_take_oom(struct dump_state *state, const struct memscope_row *row,
                             struct mt_error *error)
{
    const struct memscope_attribute *func = dump_attribute_find(row, "func");
    struct memscope_row made = *row;
    enum mt_result result;

    if (!(state->what->analyses & DUMP_BIT_OOM) || !func || strncmp(func->text, "halMem", 6) != 0 ||
        !dump_is_step_chosen(state))
        return MT_OK;
    result = dump_emit(state, &made, true, error);
    if (result == MT_OK)
        result = emit_top(state, row, DUMP_BY_TIME, error);
    return result == MT_OK ? emit_top(state, row, DUMP_BY_SIZE, error) : result;
}

/* With or without the analysis. Where no blocks are collected, nobody looks for requests that fail.
 */
enum mt_result dump_take_snapshot(struct dump_state *state, const struct memscope_row *row,
                                  struct mt_error *error)
{
    bool is_of_failure = strcmp(row->name, "OOM_Snapshot") == 0;
    struct memscope_row made = *row;

    if (!dump_is_step_chosen(state) || (is_of_failure && !dump_collects(state, DUMP_BIT_ALLOC) &&
                                        !dump_collects(state, DUMP_BIT_FREE)))
        return MT_OK;
    return dump_emit(state, &made, true, error);
}
