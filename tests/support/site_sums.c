/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording of the host heap says of each call stack, for comparing it with other tools:
 * "site_sums RUN". One line a stack: allocations, bytes, bytes never freed, frames. A frame is a
 * module's base name and the address in its file, in hexadecimal, innermost first. The
 * first line is the highest number of live bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "hash.h"
#include "hash_index.h"
#include "input.h"
#include "model.h"

enum { BATCH = 4096 };

struct sums {
    uint64_t allocs, bytes, live_bytes;
};

struct block {
    uint64_t address, size;
    uint32_t site;
};

struct state {
    struct model *model;
    struct sums *sites;
    size_t site_capacity;
    struct block *blocks; /* open addressing; address 0 is free */
    size_t block_capacity, block_count;
    uint64_t live_bytes, peak_bytes;
};

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static size_t slot_of(const struct state *state, uint64_t address)
{
    size_t slot = hash_u64(address) & (state->block_capacity - 1);

    while (state->blocks[slot].address && state->blocks[slot].address != address)
        slot = (slot + 1) & (state->block_capacity - 1);
    return slot;
}

static void blocks_grow(struct state *state)
{
    struct block *old = state->blocks;
    size_t old_capacity = state->block_capacity;

    state->block_capacity = old_capacity ? 2 * old_capacity : 1 << 16;
    state->blocks = must(calloc(state->block_capacity, sizeof(*old)));
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].address)
            state->blocks[slot_of(state, old[i].address)] = old[i];
    free(old);
}

static struct sums *site_sums(struct state *state, uint32_t site)
{
    while (site >= state->site_capacity) {
        size_t capacity = state->site_capacity ? 2 * state->site_capacity : 1024;

        state->sites = must(realloc(state->sites, capacity * sizeof(*state->sites)));
        memset(state->sites + state->site_capacity, 0,
               (capacity - state->site_capacity) * sizeof(*state->sites));
        state->site_capacity = capacity;
    }
    return &state->sites[site];
}

/* A slot stays taken by its address: it is asked for again. */
static void block_end(struct state *state, uint64_t address)
{
    struct block *block = &state->blocks[slot_of(state, address)];

    if (!block->address)
        return;
    site_sums(state, block->site)->live_bytes -= block->size;
    state->live_bytes -= block->size;
    block->size = 0;
}

static void block_begin(struct state *state, const struct event *event)
{
    struct sums *sums = site_sums(state, event->site);
    struct block *block;

    if (2 * (state->block_count + 1) > state->block_capacity)
        blocks_grow(state);
    block_end(state, event->address);
    block = &state->blocks[slot_of(state, event->address)];
    state->block_count += !block->address;
    *block = (struct block){event->address, event->value, event->site};
    sums->allocs++;
    sums->bytes += event->value;
    sums->live_bytes += event->value;
    state->live_bytes += event->value;
    if (state->live_bytes > state->peak_bytes)
        state->peak_bytes = state->live_bytes;
}

static void frame_print(const struct model *model, const struct model_frame *frame)
{
    for (size_t i = model_module_count(model); frame->address && i-- > 0;) {
        const struct model_module *module = model_module_at(model, i);
        const char *path = model_text_at(model, module->path), *slash = strrchr(path, '/');

        if (module->process != frame->process ||
            frame->address - module->base >= module->size_bytes)
            continue;
        printf(" %s+%" PRIx64, slash ? slash + 1 : path, frame->address - module->bias);
        return;
    }
    printf(" ?");
}

static void site_print(const struct state *state, uint32_t site)
{
    const struct sums *sums = &state->sites[site];
    uint32_t stack;

    if (!sums->allocs)
        return;
    stack = model_site_at(state->model, site)->stack;
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64, sums->allocs, sums->bytes, sums->live_bytes);
    for (; stack; stack = model_stack_at(state->model, stack)->outer)
        frame_print(state->model,
                    model_frame_at(state->model, model_stack_at(state->model, stack)->frame));
    putchar('\n');
}

static enum mt_result run_sum(struct state *state, const char *path, struct mt_error *error)
{
    static struct event batch[BATCH];
    struct input *input = NULL;
    uint16_t host = model_pool(state->model, model_text(state->model, "host", 4));
    size_t count = 1;
    enum mt_result result = input_open(path, state->model, &input, error);

    while (result == MT_OK && count) {
        result = input_next(input, batch, BATCH, &count, error);
        for (size_t i = 0; result == MT_OK && i < count; i++) {
            if (batch[i].pool != host)
                continue;
            if (batch[i].kind == EVENT_ALLOC)
                block_begin(state, &batch[i]);
            else if (batch[i].kind == EVENT_FREE && state->block_capacity)
                block_end(state, batch[i].address);
        }
    }
    input_close(input);
    return result;
}

int main(int argc, char **argv)
{
    struct state state = {.model = NULL};
    struct mt_error error = {.message = ""};

    if (argc != 2 || model_create(&state.model, &error) != MT_OK)
        return 2;
    if (run_sum(&state, argv[1], &error) != MT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 3;
    }
    printf("%" PRIu64 "\n", state.peak_bytes);
    for (uint32_t site = 0; site < state.site_capacity; site++)
        site_print(&state, site);
    return 0;
}
