/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model in training, as far as device memory goes. Functions are named after what a training
 * script does, so that the sites in a report read like one.
 */
#ifndef LEAK_SAMPLE_MODEL_H
#define LEAK_SAMPLE_MODEL_H

enum {
    KIB = 1024,
    LAYERS = 6,
    WEIGHT_BYTES = 2048 * KIB,     /* a layer; its gradients and each moment are as large */
    ACTIVATION_BYTES = 4096 * KIB, /* a layer */
    WORKSPACE_BYTES = 3072 * KIB,
    BATCH_BYTES = 768 * KIB
};

struct layer {
    void *weights;
    void *first_moment, *second_moment; /* of the optimizer; made in its first step */
    void *activations;                  /* from forward to backward */
    void *gradients;                    /* from backward to the next step */
};

struct model {
    struct layer layers[LAYERS];
    void *batch;
};

/* False when the device has no room. */
int build_model(struct model *model);
void train_step(struct model *model);
void destroy_model(struct model *model);

/* The parts of build_model and train_step. */
void load_weights(struct layer *layer);
void fetch_batch(struct model *model);
void zero_gradients(struct model *model);
void forward_layer(struct layer *layer);
void backward_layer(struct layer *layer);
void optimizer_step(struct layer *layer);

#endif
