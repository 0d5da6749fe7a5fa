/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small training job, for a project whose CI keeps a memory budget.
 *
 *     cc -g -O1 -I<prefix>/include -o train train.c
 *     leaktide run --device=cpu --call-stack=c --policy leaktide.toml -- ./train
 *
 * Change something, and see what the gate says: -DFORGET_METRICS=1 forgets to free what a step
 * measured; -DEXTRA_BYTES=200000 makes each activation larger.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <leaktide/tracer.h>

#ifndef FORGET_METRICS
#define FORGET_METRICS 0
#endif
#ifndef EXTRA_BYTES
#define EXTRA_BYTES 0
#endif

enum {
    LAYERS = 4,
    STEPS = 12,
    WEIGHT_BYTES = 2 << 20,
    ACTIVATION_BYTES = 1 << 20,
    METRIC_BYTES = 64 << 10
};

static char *weights[LAYERS], *activations[LAYERS], *metrics;

static void make_weights(void)
{
    for (size_t i = 0; i < LAYERS; i++) {
        weights[i] = malloc(WEIGHT_BYTES);
        memset(weights[i], 1, WEIGHT_BYTES);
    }
}

static void forward(void)
{
    for (size_t i = 0; i < LAYERS; i++) {
        activations[i] = malloc(ACTIVATION_BYTES + EXTRA_BYTES);
        memset(activations[i], weights[i][0], ACTIVATION_BYTES + EXTRA_BYTES);
    }
}

static void backward(void)
{
    for (size_t i = LAYERS; i-- > 0;) {
        weights[i][0] = (char)(weights[i][0] ^ activations[i][0]);
        free(activations[i]);
    }
}

static void measure(int step)
{
    if (!FORGET_METRICS)
        free(metrics);
    metrics = malloc(METRIC_BYTES);
    memset(metrics, step, METRIC_BYTES);
}

int main(void)
{
    make_weights();
    for (int step = 0; step < STEPS; step++) {
        mt_step_begin();
        mt_range_push("forward");
        forward();
        mt_range_pop();
        mt_range_push("backward");
        backward();
        mt_range_pop();
        measure(step);
        mt_step_end();
    }
    free(metrics);
    for (size_t i = 0; i < LAYERS; i++)
        free(weights[i]);
    return puts("trained") < 0;
}
