/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One training step: fetch, forward, backward, optimizer. Whatever a step makes, this step or the
 * next one frees; nothing here leaks.
 */
#include "model.h"

#include "device.h"
#include "steps.h"

void load_weights(struct layer *layer)
{
    mt_tag_push("model@weight");
    layer->weights = device_alloc(WEIGHT_BYTES);
    mt_tag_pop();
}

int build_model(struct model *model)
{
    *model = (struct model){0};
    for (int i = 0; i < LAYERS; i++) {
        load_weights(&model->layers[i]);
        if (!model->layers[i].weights)
            return 0;
    }
    return 1;
}

/* The batch of a step lives until the next one is fetched. */
void fetch_batch(struct model *model)
{
    device_free(model->batch);
    model->batch = device_alloc(BATCH_BYTES);
}

/* The gradients of the step before are dropped here: they live over the end of a step. */
void zero_gradients(struct model *model)
{
    for (int i = 0; i < LAYERS; i++) {
        device_free(model->layers[i].gradients);
        model->layers[i].gradients = NULL;
    }
}

void forward_layer(struct layer *layer)
{
    void *workspace;

    operator_begin("aten::linear");
    workspace = device_alloc(WORKSPACE_BYTES);
    layer->activations = device_alloc(ACTIVATION_BYTES);
    device_free(workspace);
    operator_end("aten::linear");
}

void backward_layer(struct layer *layer)
{
    operator_begin("aten::linear_backward");
    layer->gradients = device_alloc(WEIGHT_BYTES);
    device_free(layer->activations);
    layer->activations = NULL;
    operator_end("aten::linear_backward");
}

void optimizer_step(struct layer *layer)
{
    if (layer->first_moment)
        return;
    mt_tag_push("optimizer@state");
    layer->first_moment = device_alloc(WEIGHT_BYTES);
    layer->second_moment = device_alloc(WEIGHT_BYTES);
    mt_tag_pop();
}

void train_step(struct model *model)
{
    fetch_batch(model);
    zero_gradients(model);
    mt_range_push("forward");
    for (int i = 0; i < LAYERS; i++)
        forward_layer(&model->layers[i]);
    mt_range_pop();
    mt_range_push("backward");
    for (int i = LAYERS - 1; i >= 0; i--)
        backward_layer(&model->layers[i]);
    mt_range_pop();
    mt_range_push("optimizer");
    for (int i = 0; i < LAYERS; i++)
        optimizer_step(&model->layers[i]);
    mt_range_pop();
}

void destroy_model(struct model *model)
{
    zero_gradients(model);
    for (int i = 0; i < LAYERS; i++) {
        struct layer *layer = &model->layers[i];

        device_free(layer->first_moment);
        device_free(layer->second_moment);
        device_free(layer->weights);
    }
    device_free(model->batch);
}
