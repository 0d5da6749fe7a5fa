/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits for the way back: blocks that are made outside of a backward pass and freed during
 * one.
 *
 *   |-- forward --|-- backward --|-- forward --|-- backward --|-- optimizer --|
 *         block ----------|           micro-batches, and what is computed again
 *
 * Words in names tell of passes, as of phases (docs/steps.md), with or without steps. But most
 * operators of a way back have no name of their own: aten::mm. So a pass goes on until a name says
 * another thing: an optimizer; or an operator that goes forward, as another one is called as its
 * way back: npu_swiglu, npu_swiglu_backward. Counted is what was held at the peak of a ledger.
 */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "list.h"
#include "tally_state.h"

/* From an event on. */
struct pass {
    uint64_t first;
    bool is_backward;
};

static void pass_begin(struct tally *tally, bool is_backward)
{
    struct pass_state *state = &tally->passes;

    state->is_backward = false;
    if (!list_has_room(&state->rows, &state->capacity, state->count, sizeof(*state->rows)))
        return; /* not worth failing for */
    state->is_backward = is_backward;
    state->rows[state->count++] = (struct pass){tally->number, is_backward};
}

void tally_passes_begin(struct tally *tally)
{
    tally->passes.count = 0;
    pass_begin(tally, false);
}

/* "npu::npu_swiglu" of "npu::npu_swiglu_backward": bytes; 0: its name does not say. */
static size_t stem_of(const char *name)
{
    static const char *const ends[] = {"_backward", "_grad"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const char *end = strstr(name, ends[i]);

        if (end)
            return (size_t)(end - name);
    }
    return 0;
}

void tally_pass_name(struct tally *tally, uint32_t text)
{
    const char *name = model_text_at(tally->model, text);
    size_t length = stem_of(name);

    if (length)
        hash_index_add(&tally->passes.backward, hash_bytes(name, length), text);
}

/* Whether one that was seen is its way back. */
static bool goes_forward(const struct tally *tally, uint32_t text)
{
    const char *name = model_text_at(tally->model, text);
    size_t length = strlen(name), probe = 0;
    uint64_t hash = hash_bytes(name, length);
    uint32_t found;

    while (hash_index_next(&tally->passes.backward, hash, &probe, &found)) {
        const char *other = model_text_at(tally->model, found);

        if (stem_of(other) == length && memcmp(other, name, length) == 0)
            return true;
    }
    return false;
}

void tally_pass_event(struct tally *tally, enum step_phase phase, uint32_t text)
{
    if (phase == PHASE_OPTIMIZER)
        tally_passes_begin(tally);
    else if (phase == PHASE_BACKWARD && !tally->passes.is_backward)
        pass_begin(tally, true);
    else if (tally->passes.is_backward &&
             (phase == PHASE_FORWARD || (phase == PHASE_OTHER && goes_forward(tally, text))))
        pass_begin(tally, false);
}

/* In a pass of the same iteration that is none back. */
static bool is_made_outside(const struct pass_state *state, uint64_t number)
{
    size_t low = 0, high = state->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (state->rows[middle].first <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low && !state->rows[low - 1].is_backward;
}

void tally_pass_gone(struct tally *tally, const struct live_block *block)
{
    uint64_t number = tally_number_of(tally, block->birth);
    const struct ledger *ledger = ledger_at(tally, tally_group_ledger(tally, block->group));
    struct group_past *past;

    if (!tally->passes.is_backward || number > ledger->peak_number ||
        !is_made_outside(&tally->passes, number))
        return;
    past = tally_past_for(tally, block->group);
    if (!past)
        return;
    if (past->waiting_epoch != ledger->peak_epoch)
        past->waiting_bytes = 0;
    past->waiting_epoch = ledger->peak_epoch;
    past->waiting_bytes += block->size_bytes;
}

uint64_t group_waiting_bytes(const struct tally *tally, size_t index)
{
    const struct group_past *past = tally_past_at(tally, index);

    return past->waiting_epoch ==
                   ledger_at(tally, group_at(tally, (uint32_t)index)->ledger)->peak_epoch
               ? past->waiting_bytes
               : 0;
}

void tally_passes_release(struct tally *tally)
{
    free(tally->passes.rows);
    hash_index_release(&tally->passes.backward);
}
