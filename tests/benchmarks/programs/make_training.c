/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a recording that looks like training: in each step layers take activations and
 * temporaries, the way back frees them, gradients live into the next step, a little is forgotten.
 *
 *   make_training FOLDER EVENTS
 */
#include <stdio.h>
#include <stdlib.h>

#include "trace_builder.h"

enum {
    layers = 48,
    blocks_of_layer = 8, /* kept for the way back */
    temporaries = 24,    /* freed at once */
    temporary_sites = layers * blocks_of_layer,
    gradient_site = temporary_sites + temporaries,
    forgotten_site,
    event_ticks = 900,
};

struct training {
    struct trace_builder *builder;
    uint64_t time, seed, next_address, event_count;
    uint64_t operators[layers];
    uint64_t kept[layers][blocks_of_layer], gradients[layers];
};

static uint64_t next_random(struct training *training)
{
    training->seed ^= training->seed << 13;
    training->seed ^= training->seed >> 7;
    training->seed ^= training->seed << 17;
    return training->seed;
}

static uint64_t now(struct training *training)
{
    training->event_count++;
    return training->time += event_ticks + next_random(training) % event_ticks;
}

static uint64_t take(struct training *training, uint64_t size, uint64_t site)
{
    struct built_block block = {
        .address = UINT64_C(0x120000000000) + training->next_address,
        .size = size,
        .site = 0x1000 + 16 * site,
        .pool = "pta",
        .place = {.device = 0, .module = -1},
    };

    training->next_address = (training->next_address + 512) % (UINT64_C(1) << 40);
    trace_builder_alloc(training->builder, 0, now(training), block);
    return block.address;
}

static void give_back(struct training *training, uint64_t *address)
{
    if (*address)
        trace_builder_free(training->builder, 0, now(training), "pta", *address);
    *address = 0;
}

static void mark(struct training *training, enum mt_record_code code, uint64_t first,
                 uint64_t second)
{
    trace_builder_push(training->builder, 0, code, now(training), (uint64_t[]){first, second, 0});
}

static void forward(struct training *training, size_t layer)
{
    mark(training, MT_RECORD_operator_begin, training->operators[layer], 0);
    for (size_t i = 0; i < blocks_of_layer; i++)
        training->kept[layer][i] =
            take(training, 512 << next_random(training) % 12, layer * blocks_of_layer + i);
    for (size_t i = 0; i < temporaries; i++) {
        uint64_t temporary =
            take(training, 512 + next_random(training) % 100000, temporary_sites + i);

        give_back(training, &temporary);
    }
    mark(training, MT_RECORD_operator_end, training->operators[layer], 0);
}

static void backward(struct training *training, size_t layer)
{
    mark(training, MT_RECORD_operator_begin, training->operators[layer], 0);
    give_back(training, &training->gradients[layer]);
    training->gradients[layer] = take(training, 1 << 20, gradient_site);
    for (size_t i = 0; i < blocks_of_layer; i++)
        give_back(training, &training->kept[layer][i]);
    mark(training, MT_RECORD_operator_end, training->operators[layer], 0);
}

static void step(struct training *training, uint64_t number)
{
    mark(training, MT_RECORD_step_begin, number, 0);
    for (size_t i = 0; i < layers; i++)
        forward(training, i);
    for (size_t i = layers; i > 0; i--)
        backward(training, i - 1);
    take(training, 4096, forgotten_site);
    mark(training, MT_RECORD_step_end, number, 0);
}

int main(int argc, char **argv)
{
    struct training training = {.seed = 88172645463325252};
    uint64_t wanted = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

    if (!wanted) {
        fprintf(stderr, "usage: make_training FOLDER EVENTS\n");
        return 2;
    }
    training.builder = trace_builder_create(&(struct trace_builder_setup){.ring_words = 1 << 20});
    trace_builder_thread(training.builder, 0, 100, 4711, "main");
    for (size_t i = 0; i < layers; i++) {
        char name[32];

        snprintf(name, sizeof(name), "aten::layer_%zu", i % 16);
        training.operators[i] = trace_builder_text(training.builder, 0, 200, name);
    }
    for (uint64_t number = 1; training.event_count < wanted; number++)
        step(&training, number);
    trace_builder_close(training.builder);
    trace_builder_write(training.builder, argv[1]);
    trace_builder_destroy(training.builder);
    return 0;
}
