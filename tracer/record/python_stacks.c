/* SPDX-License-Identifier: Apache-2.0 */
#include "python_stacks.h"

#include <stdatomic.h>

#include "recorder.h"

static _Atomic uint64_t last_code_id; /* of the process and, as they copy it, of its children */

/* --- codes ------------------------------------------------------------------------------ */

static void code_write(struct python_stacks *stacks, const char *code, uint64_t id)
{
    uint64_t fields[3] = {id, 0, 0};
    struct text text = {stacks->text, 0};

    text.size_bytes = python_function(code, stacks->text, sizeof(stacks->text));
    fields[1] = recorder_text(text);
    text.size_bytes = python_file(code, stacks->text, sizeof(stacks->text));
    fields[2] = recorder_text(text);
    recorder_push(MT_RECORD_code, fields);
}

static uint64_t code_id(struct python_stacks *stacks, const char *code)
{
    struct python_identity identity = python_identify(code);
    uint64_t hash = identity.names + identity.line * UINT64_C(0x9e3779b97f4a7c15);
    struct code_slot *slot = &stacks->codes[(hash >> 40) % CODE_SLOTS];

    for (uint32_t probe = 0; probe < CODE_PROBES; probe++) {
        slot = &stacks->codes[((hash >> 40) + probe) % CODE_SLOTS];
        if (slot->id == 0 ||
            (slot->identity.names == identity.names && slot->identity.line == identity.line))
            break;
    }
    if (slot->id && slot->identity.names == identity.names && slot->identity.line == identity.line)
        return slot->id;
    *slot = (struct code_slot){identity, atomic_fetch_add(&last_code_id, 1) + 1};
    code_write(stacks, code, slot->id);
    return slot->id;
}

static uint64_t frame_word(struct python_stacks *stacks, const struct python_frame *frame)
{
    uint64_t id = code_id(stacks, frame->code), key = python_line_key(frame);
    struct line_slot *slot = &stacks->lines[((key ^ id) >> 40) % LINE_SLOTS];

    if (slot->code_id != id || slot->key != key)
        *slot = (struct line_slot){id, key, python_line(frame)};
    return mt_frame_of_code(id, slot->line);
}

/* --- merging ---------------------------------------------------------------------------- */

/* Outermost first. */
struct merging {
    struct python_stacks *stacks;
    uint32_t left_out; /* of the outermost: there are too many */
    uint32_t count, same_count;
    bool is_same;
    uint64_t hash;
    uint32_t python_left; /* frames of Python that are not put yet */
};

static void put(struct merging *merging, uint64_t frame)
{
    uint64_t *slot = &merging->stacks->merged[merging->count];

    if (merging->left_out) {
        merging->left_out--;
        return;
    }
    merging->is_same &= merging->count < merging->stacks->merged_count && *slot == frame;
    merging->same_count += merging->is_same;
    *slot = frame;
    merging->count++;
    merging->hash = unwind_hash(merging->hash, frame);
}

/* What one call of the loop runs: from its entry to the one before the next entry. */
static void put_group(struct merging *merging)
{
    const struct python_frame *frames = merging->stacks->frames;

    do {
        merging->python_left--;
        put(merging, frame_word(merging->stacks, &frames[merging->python_left]));
    } while (merging->python_left && !frames[merging->python_left - 1].is_entry);
}

static uint32_t count_groups(const struct python_frame *frames, uint32_t count)
{
    uint32_t groups = count && !frames[count - 1].is_entry; /* cut in the middle of one */

    for (uint32_t i = 0; i < count; i++)
        groups += frames[i].is_entry;
    return groups;
}

static uint32_t count_loops(const struct unwind_stack *stack)
{
    uint32_t loops = 0;

    for (uint32_t i = 0; i < stack->count; i++)
        loops += python_runs_at(stack->pcs[i]);
    return loops;
}

/* The innermost loop runs the innermost group; what has no counterpart is furthest out. */
static void put_all(struct merging *merging, const struct unwind_stack *stack)
{
    uint32_t groups = count_groups(merging->stacks->frames, merging->python_left);
    uint32_t loops = count_loops(stack);

    for (; groups > loops; groups--)
        put_group(merging);
    for (uint32_t i = 0; i < stack->count; i++) {
        if (python_runs_at(stack->pcs[i])) {
            if (groups == loops && groups) {
                put_group(merging);
                groups--;
            }
            loops--;
        }
        put(merging, stack->pcs[i]);
    }
}

void python_stacks_merge(struct python_stacks *stacks, uint32_t most, struct unwind_stack *stack)
{
    uint32_t count = (uint32_t)python_frames_read(
        stacks->frames, most < PYTHON_FRAMES_MAX ? most : PYTHON_FRAMES_MAX);
    struct merging merging = {.stacks = stacks, .is_same = true, .python_left = count};

    if (stack->count + count > MT_STACK_FRAMES_MAX) {
        merging.left_out = stack->count + count - MT_STACK_FRAMES_MAX;
        stack->flags = (stack->flags & ~(uint32_t)UNWIND_COMPLETE) | UNWIND_TRUNCATED;
    }
    put_all(&merging, stack);
    stacks->merged_count = merging.count;
    stack->pcs = stacks->merged;
    stack->count = merging.count;
    stack->reused_count = merging.same_count;
    /* Not those of native stacks, of which one without frames of Python may follow. */
    stack->number = ++stacks->number | UINT64_C(1) << 62;
    stack->hash = unwind_hash_end(merging.hash);
}
