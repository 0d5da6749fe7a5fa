/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of blocks: taken, used, given back, and left.
 *
 * A free belongs to its alloc: it is written when that was.
 */
#include <string.h>

#include "dump_attributes.h"
#include "dump_state.h"

static enum mt_result no_memory(struct mt_error *error)
{
    return mt_error_set(error, MT_NO_MEMORY, "no memory for live blocks");
}

/* Pools that the tool knows. Its own rows of the host are of pinned memory. */
static bool is_pool_known(const struct memscope_row *row)
{
    return dump_type_known(row->type) &&
           (strcmp(row->type, "HOST") != 0 || dump_attribute_is_there(row, "pinned") ||
            dump_attribute_is_there(row, "shadow"));
}

static bool tell_judge(struct dump_state *state, enum dump_event event,
                       const struct dump_block *block)
{
    const struct inefficiency_event told = {.event = event,
                                            .pool = dump_pool_named(block->type),
                                            .block = block->source_id,
                                            .number = (uint32_t)block->id};

    return dump_findings_take(&state->findings, &told);
}

/* --- attributes --------------------------------------------------------------------------------
 */

static void add_findings(struct dump_state *state, struct memscope_row *made,
                         const struct memscope_row *row, uint64_t allocation)
{
    if (state->what->analyses & DUMP_BIT_DECOMPOSE)
        dump_findings_add_owner(&state->findings, made, row, allocation);
    dump_findings_add_types(&state->findings, made, allocation);
}

/* The same attributes with the number of ours, without the owner, with what analyses found. */
static void copy_attributes(struct dump_state *state, struct memscope_row *made,
                            const struct memscope_row *row, uint64_t allocation, bool is_alloc)
{
    bool is_added = !is_alloc;

    made->attribute_count = 0;
    for (size_t i = 0; i < row->attribute_count; i++) {
        const struct memscope_attribute *attribute = &row->attributes[i];

        if (dump_attribute_is(attribute, "owner"))
            continue;
        if (!is_added && dump_attribute_is(attribute, "page_type")) {
            add_findings(state, made, row, allocation);
            is_added = true;
        }
        made->attributes[made->attribute_count++] = *attribute;
        if (dump_attribute_is(attribute, "allocation_id"))
            made->attributes[made->attribute_count - 1].number = allocation;
    }
    if (!is_added)
        add_findings(state, made, row, allocation);
}

static struct memscope_row complete(struct dump_state *state, const struct memscope_row *row,
                                    uint64_t allocation, bool is_alloc)
{
    struct memscope_row made = *row;

    copy_attributes(state, &made, row, allocation, is_alloc);
    if (state->what->is_strict)
        dump_quirks_apply(&state->quirks, &made);
    return made;
}

/* --- rows --------------------------------------------------------------------------------------
 */

static enum mt_result on_malloc(struct dump_state *state, const struct memscope_row *row,
                                struct mt_error *error)
{
    bool is_chosen = dump_is_step_chosen(state) && dump_collects(state, DUMP_BIT_ALLOC);
    struct dump_block block = {
        .source_id = dump_attribute_number(row, "allocation_id"),
        .id = is_chosen ? ++state->next_allocation : 0,
        .address = row->pointer,
        .size_bytes = dump_attribute_number(row, "size"),
        .time_ns = row->time_ns,
        .type = row->type,
        .step = state->steps.newest,
        .device = row->device,
    };
    struct memscope_row made;

    dump_steps_use(&state->steps, row->type, row->device, dump_attribute_number(row, "used"));
    if (!dump_blocks_add(&state->blocks, &block) || !tell_judge(state, DUMP_MALLOC, &block))
        return no_memory(error);
    if (!is_chosen)
        return MT_OK;
    made = complete(state, row, block.id, true);
    return dump_emit(state, &made, dump_writes(state, DUMP_BIT_ALLOC), error);
}

/* The block's alloc was chosen, so its free is; those on paper come after the last row. */
static enum mt_result emit_free(struct dump_state *state, const struct memscope_row *row,
                                uint64_t allocation, bool is_shadow, struct mt_error *error)
{
    struct memscope_row made = complete(state, row, allocation, false);

    if (!is_shadow)
        return dump_emit(state, &made, dump_writes(state, DUMP_BIT_FREE), error);
    return dump_shadows_add(&state->shadows, &made) ? MT_OK : no_memory(error);
}

static enum mt_result on_free(struct dump_state *state, const struct memscope_row *row,
                              struct mt_error *error)
{
    struct dump_block *block =
        dump_blocks_find(&state->blocks, dump_attribute_number(row, "allocation_id"));
    bool is_shadow = dump_attribute_is_there(row, "shadow");
    uint64_t allocation = block ? block->id : 0;

    if (!block)
        return MT_OK;
    if (!is_shadow) {
        dump_steps_use(&state->steps, row->type, row->device, dump_attribute_number(row, "used"));
        if (!tell_judge(state, DUMP_FREE, block))
            return no_memory(error);
    }
    dump_steps_judge(&state->steps, block);
    dump_blocks_remove(&state->blocks, block);
    if (!allocation || !dump_collects(state, DUMP_BIT_FREE))
        return MT_OK;
    return emit_free(state, row, allocation, is_shadow, error);
}

enum mt_result dump_take_block(struct dump_state *state, const struct memscope_row *row,
                               struct mt_error *error)
{
    if (!is_pool_known(row))
        return MT_OK;
    return strcmp(row->event, "MALLOC") == 0 ? on_malloc(state, row, error)
                                             : on_free(state, row, error);
}

enum mt_result dump_take_access(struct dump_state *state, const struct memscope_row *row,
                                struct mt_error *error)
{
    const struct dump_block *block =
        dump_blocks_find(&state->blocks, dump_attribute_number(row, "allocation_id"));
    struct memscope_row made;

    if (!block || !dump_collects(state, DUMP_BIT_ACCESS))
        return MT_OK;
    if (!tell_judge(state, DUMP_ACCESS, block) || !dump_findings_use(&state->findings, block->id))
        return no_memory(error);
    if (!block->id || !dump_is_step_chosen(state))
        return MT_OK;
    made = *row;
    copy_attributes(state, &made, row, block->id, false);
    return dump_emit(state, &made, dump_writes(state, DUMP_BIT_ACCESS), error);
}

/* The tool's exit takes a number for itself each time. */
enum mt_result dump_emit_shadows(struct dump_state *state, struct mt_error *error)
{
    enum mt_result result = MT_OK;

    dump_shadows_sort(&state->shadows);
    for (size_t i = 0; result == MT_OK && i < state->shadows.count; i++) {
        struct memscope_row row = dump_shadow_row(&state->shadows.rows[i]);

        state->next_id++;
        result = dump_emit(state, &row, dump_writes(state, DUMP_BIT_FREE), error);
    }
    return result;
}
