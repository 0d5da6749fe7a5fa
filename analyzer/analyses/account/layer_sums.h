/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What modules of a model hold: torch.nn.Module, MindSpore's Cell. People call them layers; a
 * module of the driver is another thing.
 *
 *   gathered        Gpt.blocks.0.mlp.up  5    Gpt.blocks.0.mlp  1    Gpt.blocks.1.mlp.up  5
 *   cut to depth 4  Gpt.blocks.0.mlp     6    Gpt.blocks.1.mlp  5
 *   joined          Gpt.blocks.*.mlp    11    of 2 layers
 *
 * Sums are of one ledger each, without segments of pools. Memory that was asked for outside of any
 * module has the path "".
 */
#ifndef LEAKTIDE_ANALYSES_LAYER_SUMS_H
#define LEAKTIDE_ANALYSES_LAYER_SUMS_H

#include "analysis.h"
#include "arena.h"
#include "category.h"
#include "hash_index.h"
#include "table.h"

struct model_layer {
    const char *path;
    uint64_t count;      /* of the layers that were added up, 1 unless they are joined */
    uint64_t held_bytes; /* at the peak of the ledger */
    uint64_t by_category[CATEGORY_COUNT]; /* of these */
    uint64_t alive_bytes;                 /* at the end */
    int64_t grown_bytes; /* alive when the last judged step ended, less the first */
    uint16_t ledger;
};

/* All zeros are none. */
struct model_layers {
    struct arena arena;
    struct table rows; /* struct model_layer, each path once for each ledger */
    struct hash_index index;
    bool has_failed; /* no memory */
};

/* Whether a module is known of any block. */
bool model_layers_are_known(const struct question *question);

/* Each is to be released, even where it has failed. */
void model_layers_gather(struct model_layers *layers, const struct question *question);
/* Of those in from, by the first `depth` names of their paths, from 1. */
void model_layers_cut(struct model_layers *layers, const struct model_layers *from, unsigned depth);
/* By their paths with "*" in place of numbers: "blocks.*.mlp", "Block_*". */
void model_layers_join(struct model_layers *layers, const struct model_layers *from);
void model_layers_release(struct model_layers *layers);

static inline const struct model_layer *model_layer_at(const struct model_layers *layers,
                                                       size_t index)
{
    return table_at_sized(&layers->rows, index, sizeof(struct model_layer));
}

/* The greatest depth at which at most so many are left once they are joined; 0: of all. At least
 * 1. */
unsigned model_layers_depth(const struct model_layers *layers, size_t most);

#endif
