/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two leaks, and four things that are none.
 */
#include "stories.h"

#include <stdio.h>

#include "device.h"

static void *embeddings[EMBEDDING_COUNT];
static void *predictions[PREDICTION_COUNT];
static int prediction_count;

/*
 * The leak: the losses of the step are put in a buffer to be averaged later, and each step
 * overwrites the pointer of the last. The fix is one line before:
 *     device_free(last_metrics);
 */
void remember_metrics(int step)
{
    static void *last_metrics;

    (void)step;
    last_metrics = device_alloc(METRIC_BYTES);
    (void)last_metrics;
}

/* A slower leak of the same kind. */
void log_histogram(int step)
{
    static void *last_histogram;

    (void)step;
    last_histogram = device_alloc(HISTOGRAM_BYTES);
    (void)last_histogram;
}

/* Grows for EMBEDDING_COUNT steps and then no more: not a leak. */
void look_up_embedding(int step)
{
    void **entry = &embeddings[step % EMBEDDING_COUNT];

    if (!*entry)
        *entry = device_alloc(EMBEDDING_BYTES);
}

void evaluate(void)
{
    while (prediction_count > 0)
        device_free(predictions[--prediction_count]);
}

/* Rises for PREDICTION_COUNT steps, falls to nothing, and rises again: not a leak. */
void keep_prediction(int step)
{
    (void)step;
    if (prediction_count == PREDICTION_COUNT)
        evaluate();
    predictions[prediction_count++] = device_alloc(PREDICTION_BYTES);
}

/* Many blocks come and most go; what stays keeps the pool from giving its segments back. */
void shuffle_shards(int step)
{
    enum { SHARDS = 64, STAY = 8, STEPS = 4 };
    void *shards[SHARDS];

    if (step >= STEPS)
        return;
    for (int i = 0; i < SHARDS; i++)
        shards[i] = device_alloc(SHARD_BYTES);
    for (int i = 0; i < SHARDS; i++)
        if (i % STAY)
            device_free(shards[i]);
}

void ask_for_too_much(int step)
{
    void *all = device_alloc((size_t)1 << TOO_MUCH_SHIFT);

    if (!all)
        printf("step %d: out of device memory\n", step + 1);
    device_free(all);
}

void stories_end(void)
{
    evaluate();
    for (int i = 0; i < EMBEDDING_COUNT; i++)
        device_free(embeddings[i]);
}
