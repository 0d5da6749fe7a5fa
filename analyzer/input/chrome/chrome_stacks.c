/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "chrome_stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"

enum { PATH_BYTES = 1024 };

bool chrome_stacks_add(struct chrome_stacks *stacks, struct chrome_span span)
{
    if (!list_has_room(&stacks->spans, &stacks->capacity, stacks->count, sizeof(*stacks->spans)))
        return false;
    stacks->spans[stacks->count++] = span;
    return true;
}

void chrome_stacks_release(struct chrome_stacks *stacks)
{
    for (size_t i = 0; i < stacks->thread_count; i++)
        free(stacks->threads[i].open);
    free(stacks->threads);
    free(stacks->spans);
    *stacks = (struct chrome_stacks){.spans = NULL};
}

/* By thread, then from the outside inward. */
static int compare_spans(const void *left, const void *right)
{
    const struct chrome_span *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->end_ns == b->end_ns ? 0 : a->end_ns > b->end_ns ? -1 : 1;
}

bool chrome_stacks_settle(struct chrome_stacks *stacks)
{
    if (stacks->count)
        qsort(stacks->spans, stacks->count, sizeof(*stacks->spans), compare_spans);
    for (size_t i = 0; i < stacks->count; i++) {
        uint32_t thread = stacks->spans[i].thread;

        if (!i || thread != stacks->spans[i - 1].thread) {
            if (!list_has_room(&stacks->threads, &stacks->thread_capacity, stacks->thread_count,
                               sizeof(*stacks->threads)))
                return false;
            stacks->threads[stacks->thread_count++] =
                (struct chrome_thread){.thread = thread, .next = i};
        }
        stacks->threads[stacks->thread_count - 1].end = i + 1;
    }
    return true;
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

static uint32_t text_of(struct model *model, const char *begin, const char *end)
{
    return model_text(model, begin, (size_t)(end - begin));
}

/* "models/bert.py(786): forward": the line where the function begins. */
static bool read_source(struct model *model, const char *name, struct model_frame *frame)
{
    for (const char *at = name; (at = strchr(at, '(')); at++) {
        size_t digits = count_digits(at + 1);
        const char *rest = at + 1 + digits;

        if (!digits || strncmp(rest, "): ", 3) != 0 || !rest[3])
            continue;
        frame->file = text_of(model, name, at);
        frame->line = (uint32_t)strtoul(at + 1, NULL, 10);
        frame->function = text_of(model, rest + 3, rest + strlen(rest));
        return true;
    }
    return false;
}

static const char nn_module[] = "nn.Module: ";

static bool is_nn_module(const char *name)
{
    return strncmp(name, nn_module, sizeof(nn_module) - 1) == 0;
}

/* Which instance of a class it is, or where an object lies, makes no other place of the program. */
static const char *name_end(const char *name)
{
    static const char address[] = " at 0x";
    const char *end = strstr(name, address), *number = strrchr(name, '_');

    if (end)
        return end;
    if (is_nn_module(name) && number && number[1] && !number[1 + count_digits(number + 1)])
        return number;
    return name + strlen(name);
}

static uint32_t frame_of(struct model *model, uint16_t process, uint32_t name)
{
    struct model_frame frame = {.process = process, .kind = FRAME_PYTHON};
    const char *text = model_text_at(model, name);

    if (!read_source(model, text, &frame))
        frame.function = text_of(model, text, name_end(text));
    return model_frame(model, frame);
}

/* The path with the instance that the span is of; that of a recursion ends where it is too long. */
static uint32_t path_within(struct model *model, uint32_t outer, uint32_t name)
{
    const char *text = model_text_at(model, name);
    char path[PATH_BYTES];
    int length;

    if (!is_nn_module(text))
        return outer;
    length = snprintf(path, sizeof(path), "%s%s%s", model_text_at(model, outer), outer ? "." : "",
                      text + sizeof(nn_module) - 1);
    return length < (int)sizeof(path) ? model_text(model, path, (size_t)length) : outer;
}

static bool open_span(struct chrome_thread *thread, struct model *model, uint16_t process,
                      const struct chrome_span *span)
{
    struct chrome_frame outer =
        thread->open_count ? thread->open[thread->open_count - 1] : (struct chrome_frame){0};

    if (!list_has_room(&thread->open, &thread->open_capacity, thread->open_count,
                       sizeof(*thread->open)))
        return false;
    thread->open[thread->open_count++] = (struct chrome_frame){
        .end_ns = span->end_ns,
        .stack = model_stack(model, outer.stack, frame_of(model, process, span->name)),
        .nn_module = path_within(model, outer.nn_module, span->name)};
    return true;
}

static void close_spans(struct chrome_thread *thread, uint64_t time_ns)
{
    while (thread->open_count && thread->open[thread->open_count - 1].end_ns < time_ns)
        thread->open_count--;
}

static struct chrome_thread *thread_find(struct chrome_stacks *stacks, uint32_t thread)
{
    for (size_t i = 0; i < stacks->thread_count; i++)
        if (stacks->threads[i].thread == thread)
            return &stacks->threads[i];
    return NULL;
}

struct chrome_asker chrome_stacks_asker(struct chrome_stacks *stacks, struct model *model,
                                        uint16_t process, uint32_t thread, uint64_t time_ns)
{
    struct chrome_thread *on = thread_find(stacks, thread);
    const struct chrome_frame *frame;
    const struct chrome_span *span;

    while (on && on->next < on->end && stacks->spans[on->next].begin_ns <= time_ns) {
        span = &stacks->spans[on->next++];
        close_spans(on, span->begin_ns);
        if (span->end_ns >= time_ns && !open_span(on, model, process, span))
            return (struct chrome_asker){0, 0};
    }
    if (on)
        close_spans(on, time_ns);
    if (!on || !on->open_count)
        return (struct chrome_asker){0, 0};
    frame = &on->open[on->open_count - 1];
    return (struct chrome_asker){
        .site = model_site(model, (struct model_site){.process = process, .stack = frame->stack}),
        .nn_module = frame->nn_module};
}
