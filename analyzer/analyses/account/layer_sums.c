/* SPDX-License-Identifier: Apache-2.0 */
#include "layer_sums.h"

#include <string.h>

#include "growth.h"
#include "hash.h"
#include "ledger_layers.h"

enum { DEPTH_MOST = 32 };

static const char *path_of(const struct question *question, size_t group)
{
    return model_text_at(question->model, tally_detail_at(question->tally, group)->nn_module_text);
}

bool model_layers_are_known(const struct question *question)
{
    for (size_t i = 1; i < tally_group_count(question->tally); i++)
        if (tally_detail_at(question->tally, i)->nn_module_text)
            return true;
    return false;
}

static void model_layers_init(struct model_layers *layers)
{
    *layers = (struct model_layers){.has_failed = false};
    arena_init(&layers->arena);
    table_init(&layers->rows, &layers->arena, sizeof(struct model_layer));
    hash_index_init(&layers->index);
}

void model_layers_release(struct model_layers *layers)
{
    hash_index_release(&layers->index);
    arena_release(&layers->arena);
}

/* Its path is text; made if it is not there. NULL without memory. */
static struct model_layer *layer_for(struct model_layers *layers, uint16_t ledger, const char *path)
{
    size_t length = strlen(path), probe = 0;
    uint64_t hash = hash_pair(hash_bytes(path, length), ledger);
    struct model_layer *layer;
    uint32_t found;

    while (hash_index_next(&layers->index, hash, &probe, &found)) {
        layer = table_at(&layers->rows, found);
        if (layer->ledger == ledger && strcmp(layer->path, path) == 0)
            return layer;
    }
    path = arena_text(&layers->arena, path, length);
    layer = path ? hash_index_add_row(&layers->index, hash, &layers->rows) : NULL;
    if (layer)
        *layer = (struct model_layer){.path = path, .ledger = ledger};
    else
        layers->has_failed = true;
    return layer;
}

static void layer_add(struct model_layers *layers, const char *path, const struct model_layer *sums)
{
    struct model_layer *layer = layer_for(layers, sums->ledger, path);

    if (!layer)
        return;
    layer->count++;
    layer->held_bytes += sums->held_bytes;
    layer->alive_bytes += sums->alive_bytes;
    layer->grown_bytes += sums->grown_bytes;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        layer->by_category[i] += sums->by_category[i];
}

static int64_t grown_bytes(const struct question *question, size_t group)
{
    const struct step_series *series = &tally_past_at(question->tally, group)->series;
    struct judged_steps steps =
        growth_steps_of(question, tally_detail_at(question->tally, group)->process);

    if (steps.last <= steps.warm_up)
        return 0;
    return (int64_t)step_series_at(series, steps.last).bytes -
           (int64_t)step_series_at(series, steps.warm_up + 1).bytes;
}

void model_layers_gather(struct model_layers *layers, const struct question *question)
{
    model_layers_init(layers);
    for (size_t i = 1; i < tally_group_count(question->tally) && !layers->has_failed; i++) {
        const struct group *group = tally_group_at(question->tally, i);
        struct step_sample held = group_at_peak(question->tally, i);
        struct model_layer sums = {
            .held_bytes = held.bytes, .alive_bytes = group->live_bytes, .ledger = group->ledger};

        if (!group_is_judged(question->tally, (uint32_t)i))
            continue;
        sums.grown_bytes = grown_bytes(question, i);
        if (held.bytes)
            sums.by_category[category_of(question, i).category] = held.bytes;
        if (held.bytes || sums.alive_bytes || sums.grown_bytes)
            layer_add(layers, path_of(question, i), &sums);
    }
}

static void model_layers_count_one_each(struct model_layers *layers)
{
    for (size_t i = 0; i < layers->rows.count; i++)
        ((struct model_layer *)table_at(&layers->rows, i))->count = 1;
}

void model_layers_cut(struct model_layers *layers, const struct model_layers *from, unsigned depth)
{
    model_layers_init(layers);
    for (size_t i = 0; i < from->rows.count && !layers->has_failed; i++) {
        const struct model_layer *layer = model_layer_at(from, i);
        size_t length = strcspn(layer->path, ".");
        const char *path;

        for (unsigned level = 1; level < depth && layer->path[length]; level++)
            length += 1 + strcspn(layer->path + length + 1, ".");
        path = arena_text(&layers->arena, layer->path, length);
        if (path)
            layer_add(layers, path, layer);
        else
            layers->has_failed = true;
    }
    model_layers_count_one_each(layers);
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* A number from `at` on that is a whole name, or its end after '_': its length, else 0. */
static size_t number_at(const char *path, size_t at)
{
    size_t length = 0;

    if (at && path[at - 1] != '.' && path[at - 1] != '_')
        return 0;
    while (is_digit(path[at + length]))
        length++;
    return path[at + length] && path[at + length] != '.' ? 0 : length;
}

void model_layers_join(struct model_layers *layers, const struct model_layers *from)
{
    model_layers_init(layers);
    for (size_t i = 0; i < from->rows.count && !layers->has_failed; i++) {
        const char *path = model_layer_at(from, i)->path;
        char *joined = arena_alloc(&layers->arena, strlen(path) + 1);
        size_t length = 0;

        if (!joined) {
            layers->has_failed = true;
            return;
        }
        for (size_t at = 0; path[at];) {
            size_t digits = number_at(path, at);

            joined[length++] = digits ? '*' : path[at];
            at += digits ? digits : 1;
        }
        joined[length] = '\0';
        layer_add(layers, joined, model_layer_at(from, i));
    }
}

/* Names of the longest path; at least 1. */
static unsigned deepest_of(const struct model_layers *layers)
{
    unsigned deepest = 1;

    for (size_t i = 0; i < layers->rows.count; i++) {
        unsigned depth = 1;

        for (const char *at = model_layer_at(layers, i)->path; (at = strchr(at, '.')); at++)
            depth++;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest < DEPTH_MOST ? deepest : DEPTH_MOST;
}

static bool fits(const struct model_layers *layers, unsigned depth, size_t most)
{
    struct model_layers cut, joined;
    bool is_right;

    model_layers_cut(&cut, layers, depth);
    model_layers_join(&joined, &cut);
    is_right = !cut.has_failed && !joined.has_failed && joined.rows.count <= most;
    model_layers_release(&joined);
    model_layers_release(&cut);
    return is_right;
}

unsigned model_layers_depth(const struct model_layers *layers, size_t most)
{
    unsigned deepest = deepest_of(layers), depth = most ? 1 : deepest;

    while (depth < deepest && fits(layers, depth + 1, most))
        depth++;
    return depth;
}
