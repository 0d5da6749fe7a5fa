/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step is doing, told by words in the names of ranges and operators: docs/steps.md.
 *
 *   |-- forward --|-- backward --|-- optimizer --|
 *
 * A phase goes on until another one begins, or the step ends: what is allocated between two
 * operators belongs to the first one's phase.
 */
#define _GNU_SOURCE /* strcasestr */
#include <stdlib.h>
#include <string.h>

#include "list.h"
#include "tally_state.h"

static const struct {
    const char *word;
    enum step_phase phase;
} words[] = {
    {"optimizer", PHASE_OPTIMIZER},
    {"optim", PHASE_OPTIMIZER},
    {"adam", PHASE_OPTIMIZER},
    {"sgd", PHASE_OPTIMIZER},
    {"momentum", PHASE_OPTIMIZER},
    {"lamb", PHASE_OPTIMIZER},
    {"zero_grad", PHASE_OPTIMIZER},
    {"apply_grad", PHASE_OPTIMIZER},
    {"weight_update", PHASE_OPTIMIZER},
    {"backward", PHASE_BACKWARD},
    {"bwd", PHASE_BACKWARD},
    {"autograd", PHASE_BACKWARD},
    {"_grad", PHASE_BACKWARD},
    {"forward", PHASE_FORWARD},
    {"fwd", PHASE_FORWARD},
};

static enum step_phase phase_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasestr(name, words[i].word))
            return words[i].phase;
    return PHASE_OTHER;
}

static bool make_room(struct phase_state *state, uint32_t text)
{
    return list_reach(&state->by_text, &state->text_count, text, sizeof(*state->by_text));
}

static enum step_phase phase_of_text(struct tally *tally, uint32_t text)
{
    struct phase_state *state = &tally->phase;

    if (!make_room(state, text))
        return PHASE_OTHER; /* not worth failing for */
    if (!state->by_text[text]) {
        state->by_text[text] = (uint8_t)(phase_of_name(model_text_at(tally->model, text)) + 1);
        if (state->by_text[text] == PHASE_BACKWARD + 1)
            tally_pass_name(tally, text);
    }
    return (enum step_phase)(state->by_text[text] - 1);
}

/* The innermost that says something. */
static enum step_phase phase_of_stack(struct tally *tally, const struct open_stack *stack)
{
    for (size_t i = stack->count; i-- > 0;) {
        enum step_phase phase = phase_of_text(tally, stack->rows[i].text);

        if (phase != PHASE_OTHER)
            return phase;
    }
    return PHASE_OTHER;
}

/* What was born in this step and is alive when the way back begins: activations, mostly. */
static void forward_end(struct tally *tally)
{
    for (size_t i = 0; i < tally->touched_count; i++) {
        uint32_t group = tally->touched[i].group;
        struct group_past *past =
            group_at(tally, group)->born_count ? tally_past_for(tally, group) : NULL;

        if (past && past->crossing_step != tally->era) {
            past->crossing_step = tally->era;
            past->crossing_steps++;
        }
    }
}

void ledger_stretch_end(struct ledger *ledger, enum step_phase phase)
{
    uint64_t *peak = &ledger->phase_peaks_bytes[phase];
    uint64_t used_bytes = ledger->phase_peak_bytes + ledger->older_beside_left_bytes;

    if (ledger->phase_peak_bytes > *peak)
        *peak = ledger->phase_peak_bytes;
    if (ledger->reserved_bytes == ledger->reserved_peak_bytes &&
        used_bytes > ledger->reserved_peak_used_bytes)
        ledger->reserved_peak_used_bytes = used_bytes;
    ledger->phase_peak_bytes = ledger->live_bytes;
}

void tally_phase_set(struct tally *tally, enum step_phase phase)
{
    if (phase == tally->phase.now)
        return;
    for (size_t i = tally->process_first_ledger; i < tally->ledger_count; i++)
        ledger_stretch_end(&tally->ledgers[i], tally->phase.now);
    if (tally->process < tally->process_count)
        tally->processes[tally->process].phases_seen |= (uint8_t)(1u << phase);
    if (tally->phase.now == PHASE_FORWARD && phase == PHASE_BACKWARD)
        forward_end(tally);
    tally->phase.now = phase;
    if (tally->observer && tally->observer->phase)
        tally->observer->phase(tally->observer->context, phase);
}

void tally_phase_event(struct tally *tally, const struct thread_state *thread,
                       const struct event *event)
{
    enum step_phase phase;

    if (event->kind == EVENT_RANGE_BEGIN || event->kind == EVENT_RANGE_END)
        tally->phase.by_range = phase_of_stack(tally, &thread->ranges);
    if (event->flags & EVENT_IS_PUT_IN)
        return;
    phase = tally->phase.by_range;
    if (phase == PHASE_OTHER && event->kind != EVENT_OPERATOR_BEGIN &&
        event->kind != EVENT_NN_MODULE_BEGIN)
        return;
    if (phase == PHASE_OTHER)
        phase = phase_of_stack(tally, &thread->operators);
    if (phase == PHASE_OTHER && event->kind == EVENT_NN_MODULE_BEGIN)
        phase = PHASE_FORWARD;
    tally_pass_event(tally, phase, event->text);
    if (tally->open_step)
        tally_phase_set(tally, phase == PHASE_OTHER ? PHASE_FORWARD : phase);
}

void tally_phases_release(struct tally *tally)
{
    free(tally->phase.by_text);
}
