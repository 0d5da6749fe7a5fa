/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is open on a thread: operators, owners and modules of the model make the context of its
 * blocks, ranges its phase.
 *
 * Contexts are numbered, so that a block needs one number for all three. A program that gives every
 * operator call a name of its own would make them without end: beyond CONTEXT_MAX they are none.
 */
#include "tally_state.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "list.h"

struct thread_state *tally_thread(struct tally *tally, uint32_t thread)
{
    if (!list_reach(&tally->threads, &tally->thread_count, thread, sizeof(*tally->threads)))
        return NULL;
    return &tally->threads[thread];
}

void tally_threads_release(struct tally *tally)
{
    for (size_t i = 0; i < tally->thread_count; i++) {
        free(tally->threads[i].operators.rows);
        free(tally->threads[i].owners.rows);
        free(tally->threads[i].ranges.rows);
        free(tally->threads[i].nn_modules.rows);
    }
    free(tally->threads);
}

static uint32_t context_for(struct tally *tally, struct context_row context)
{
    uint64_t hash =
        hash_pair(hash_pair(context.operator_text, context.owner_text), context.nn_module_text);
    size_t probe = 0;
    uint32_t found;
    struct context_row *row;

    if (!context.operator_text && !context.owner_text && !context.nn_module_text)
        return 0;
    while (hash_index_next(&tally->context_index, hash, &probe, &found)) {
        row = table_at(&tally->contexts, found);
        if (row->operator_text == context.operator_text && row->owner_text == context.owner_text &&
            row->nn_module_text == context.nn_module_text)
            return found;
    }
    if (tally->contexts.count >= CONTEXT_MAX) {
        tally->counts.merged_contexts++;
        return 0;
    }
    row = hash_index_add_row(&tally->context_index, hash, &tally->contexts);
    if (!row) {
        tally->has_failed = true;
        return 0;
    }
    *row = context;
    return (uint32_t)(tally->contexts.count - 1);
}

static bool open_push(struct open_stack *stack, uint32_t text, uint64_t range)
{
    if (!list_has_room(&stack->rows, &stack->capacity, stack->count, sizeof(*stack->rows)))
        return false;
    stack->rows[stack->count++] = (struct open_row){.range = range, .text = text};
    return true;
}

static uint32_t open_top(const struct open_stack *stack)
{
    return stack->count ? stack->rows[stack->count - 1].text : 0;
}

static bool is_passed(struct tally *tally, enum operator_view view, uint32_t text)
{
    struct passed_operators *passed = &tally->passed;
    uint8_t *known;

    if (!list_reach(&passed->texts, &passed->count, text, sizeof(*passed->texts)))
        return false; /* not worth failing for */
    known = &passed->texts[text].by_view[view];
    if (!*known)
        *known = (uint8_t)(operator_is_passed(view, model_text_at(tally->model, text)) + 1);
    return *known > 1;
}

static uint32_t innermost(struct tally *tally, enum operator_view view,
                          const struct open_stack *stack)
{
    for (size_t i = stack->count; i-- > 0;)
        if (!is_passed(tally, view, stack->rows[i].text))
            return stack->rows[i].text;
    return 0;
}

/* Where all that is open only allocates, that has it. */
static uint32_t operator_of(struct tally *tally, const struct open_stack *stack)
{
    uint32_t text = innermost(tally, model_operators(tally->model), stack);

    if (!text)
        text = innermost(tally, OPERATORS_OF_PROFILERS, stack);
    return text ? text : open_top(stack);
}

static void open_remove(struct open_stack *stack, size_t index)
{
    memmove(&stack->rows[index], &stack->rows[index + 1],
            (stack->count - index - 1) * sizeof(stack->rows[0]));
    stack->count--;
}

/* The innermost with this text ends, and with text 0 the innermost of all. */
static bool open_pop(struct open_stack *stack, uint32_t text)
{
    for (size_t i = stack->count; i-- > 0;) {
        if (text && stack->rows[i].text != text)
            continue;
        open_remove(stack, i);
        return true;
    }
    return false;
}

static bool range_pop(struct thread_state *thread, uint64_t range)
{
    for (size_t i = thread->ranges.count; i-- > 0;) {
        if (thread->ranges.rows[i].range != range)
            continue;
        open_remove(&thread->ranges, i);
        thread->phase = open_top(&thread->ranges);
        return true;
    }
    return false;
}

/* A range may end on any thread. */
static void range_end(struct tally *tally, struct thread_state *thread, const struct event *event)
{
    if (range_pop(thread, event->address))
        return;
    for (size_t i = 0; i < tally->thread_count; i++)
        if (range_pop(&tally->threads[i], event->address))
            return;
    tally->counts.unmatched_ends++;
}

void tally_context_event(struct tally *tally, const struct event *event)
{
    struct thread_state *thread = tally_thread(tally, event->thread);
    bool is_ok = thread != NULL, is_matched = true;

    if (tally->is_of_ledgers && event->kind != EVENT_TAG_BEGIN && event->kind != EVENT_TAG_END)
        return;
    if (is_ok && event->kind == EVENT_OPERATOR_BEGIN)
        is_ok = open_push(&thread->operators, event->text, 0);
    else if (is_ok && event->kind == EVENT_OPERATOR_END)
        is_matched = open_pop(&thread->operators, event->text);
    else if (is_ok && event->kind == EVENT_TAG_BEGIN)
        is_ok = open_push(&thread->owners, event->text, 0);
    else if (is_ok && event->kind == EVENT_TAG_END)
        is_matched = open_pop(&thread->owners, event->text);
    else if (is_ok && event->kind == EVENT_NN_MODULE_BEGIN)
        is_ok = open_push(&thread->nn_modules, event->text, 0);
    else if (is_ok && event->kind == EVENT_NN_MODULE_END)
        is_matched = open_pop(&thread->nn_modules, event->text);
    else if (is_ok && event->kind == EVENT_RANGE_BEGIN)
        is_ok = open_push(&thread->ranges, event->text, event->address);
    if (!is_ok) {
        tally->has_failed = true;
        return;
    }
    tally->counts.unmatched_ends += !is_matched;
    if (event->kind == EVENT_RANGE_END)
        range_end(tally, thread, event);
    thread->phase = open_top(&thread->ranges);
    tally_phase_event(tally, thread, event);
    thread->context = context_for(
        tally, (struct context_row){operator_of(tally, &thread->operators),
                                    open_top(&thread->owners), open_top(&thread->nn_modules)});
}
