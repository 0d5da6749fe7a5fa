/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes wrong, or only looks like it, in the steps of a training. Each is called once a step.
 */
#ifndef LEAK_SAMPLE_STORIES_H
#define LEAK_SAMPLE_STORIES_H

enum {
    METRIC_BYTES = 192 * 1024,      /* leaked by remember_metrics, each step */
    HISTOGRAM_BYTES = 64 * 1024,    /* leaked by log_histogram, now and then */
    EMBEDDING_BYTES = 512 * 1024,   /* kept by look_up_embedding, until the cache is full */
    EMBEDDING_COUNT = 12,           /* that many */
    PREDICTION_BYTES = 1024 * 1024, /* kept by keep_prediction, until evaluate */
    PREDICTION_COUNT = 10,          /* that many */
    SHARD_BYTES = 700 * 1024,       /* spread by shuffle_shards; every eighth stays for good */
    TOO_MUCH_SHIFT = 45             /* ask_for_too_much asks for this power of two */
};

void remember_metrics(int step);
void log_histogram(int step);
void look_up_embedding(int step);
void keep_prediction(int step);
void evaluate(void);
void shuffle_shards(int step);
void ask_for_too_much(int step);

/* Gives back what the stories keep for a reason. What they leak stays, as leaks do. */
void stories_end(void);

#endif
