/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_context.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

enum { TEXTS_FIRST_CAPACITY = 256 };

void trace_texts_release(struct trace_texts *texts)
{
    free(texts->ids);
    free(texts->texts);
    *texts = (struct trace_texts){0};
}

/* The slot of the id, or the free one where it belongs. capacity > count. */
static size_t slot_of(const struct trace_texts *texts, uint64_t id)
{
    size_t slot = hash_u64(id) & (texts->capacity - 1);

    while (texts->ids[slot] && texts->ids[slot] != id)
        slot = (slot + 1) & (texts->capacity - 1);
    return slot;
}

static bool texts_grow(struct trace_texts *texts)
{
    struct trace_texts grown = {.capacity =
                                    texts->capacity ? 2 * texts->capacity : TEXTS_FIRST_CAPACITY};

    grown.ids = calloc(grown.capacity, sizeof(*grown.ids));
    grown.texts = calloc(grown.capacity, sizeof(*grown.texts));
    if (!grown.ids || !grown.texts) {
        trace_texts_release(&grown);
        return false;
    }
    for (size_t i = 0; i < texts->capacity; i++) {
        if (texts->ids[i]) {
            size_t slot = slot_of(&grown, texts->ids[i]);

            grown.ids[slot] = texts->ids[i];
            grown.texts[slot] = texts->texts[i];
            grown.count++;
        }
    }
    trace_texts_release(texts);
    *texts = grown;
    return true;
}

bool trace_texts_add(struct trace_texts *texts, uint64_t id, uint32_t text)
{
    size_t slot;

    if (!id)
        return true;
    if (2 * (texts->count + 1) > texts->capacity && !texts_grow(texts))
        return false;
    slot = slot_of(texts, id);
    texts->count += !texts->ids[slot];
    texts->ids[slot] = id;
    texts->texts[slot] = text;
    return true;
}

bool trace_texts_find(const struct trace_texts *texts, uint64_t id, uint32_t *text)
{
    size_t slot;

    if (!texts->capacity)
        return false;
    slot = slot_of(texts, id);
    if (texts->ids[slot] != id)
        return false;
    *text = texts->texts[slot];
    return true;
}

uint32_t trace_context_text(struct trace_context *context, uint64_t id)
{
    char name[32];
    uint32_t text;

    if (!id)
        return 0;
    if (trace_texts_find(context->texts, id, &text))
        return text;
    model_note(context->model, 1, "texts whose definition is missing; they are named by number");
    snprintf(name, sizeof(name), "text 0x%016" PRIx64, id);
    text = model_text(context->model, name, strlen(name));
    if (!trace_texts_add(context->texts, id, text))
        context->is_out_of_memory = true;
    return text;
}

uint32_t trace_context_tensor(struct trace_context *context, uint32_t dtype, uint32_t shape)
{
    struct trace_tensor *known = &context->tensors[hash_pair(dtype, shape) & (TRACE_TENSORS - 1)];
    char joined[512];

    if (!dtype && !shape)
        return 0;
    if (known->dtype == dtype && known->shape == shape)
        return known->joined;
    snprintf(joined, sizeof(joined), "%s %s", model_text_at(context->model, dtype),
             model_text_at(context->model, shape));
    *known =
        (struct trace_tensor){dtype, shape, model_text(context->model, joined, strlen(joined))};
    return known->joined;
}

uint16_t trace_context_pool(struct trace_context *context, uint64_t name_id)
{
    return model_pool(context->model, trace_context_text(context, name_id));
}

uint16_t trace_context_place(struct trace_context *context, uint64_t packed)
{
    return model_place(context->model, mt_place_unpack(packed));
}

struct stack_source trace_context_stack_source(struct trace_context *context, uint64_t time_ns)
{
    return (struct stack_source){
        .model = context->model,
        .frames = &context->frames,
        .time_ns = time_ns,
        .any_site = context->any_site,
        .epoch = context->site_epoch,
        .process = context->process,
    };
}

static uint32_t site_of_stack(struct trace_context *context, uint64_t id, uint64_t time_ns)
{
    uint32_t site =
        trace_stacks_known_site(context->stacks, context->any_site, context->site_epoch, id);

    if (!site) {
        const struct stack_source source = trace_context_stack_source(context, time_ns);

        site = trace_stacks_site(context->stacks, &source, id);
    }
    if (!site)
        context->missing_stacks++;
    return site;
}

uint32_t trace_context_site(struct trace_context *context, uint64_t site, uint64_t time_ns)
{
    if (site & MT_SITE_IS_STACK)
        return site_of_stack(context, site & ~MT_SITE_IS_STACK, time_ns);
    if (context->any_site)
        return context->any_site;
    return model_site(
        context->model,
        (struct model_site){.process = context->process, .address = site, .time_ns = time_ns});
}

void trace_context_site_soon(const struct trace_context *context, uint64_t site)
{
    if (context->any_site)
        return;
    if (site & MT_SITE_IS_STACK)
        trace_stacks_site_soon(context->stacks, site & ~MT_SITE_IS_STACK);
    else
        model_site_soon(context->model,
                        (struct model_site){.process = context->process, .address = site});
}
