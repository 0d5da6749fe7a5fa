/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a recording in which blocks have the owners that they were given later.
 *
 * EVENT_BLOCK_OWNER says whose a block is when it is alive already. Here its alloc stands between
 * EVENT_TAG_BEGIN and EVENT_TAG_END of that owner, so whoever reads it needs to know nothing of
 * such events. What the block was called when it was taken stays in front: "model@weight". Of
 * blocks that hold the address the smallest is meant: a block of a pool, not the pool's own; in
 * each pool where it is that block.
 */
#ifndef LEAKTIDE_MODEL_OWNER_SOURCE_H
#define LEAKTIDE_MODEL_OWNER_SOURCE_H

#include "event_source.h"
#include "model.h"
#include "owner_places.h"

struct owner_source;

/*
 * Reads all of inner once more. inner and model must outlive it.
 * places  of all events of inner; are put in order.
 * MT_OK, MT_NO_MEMORY, or what inner says.
 */
enum mt_result owner_source_create(const struct event_source *inner, struct model *model,
                                   struct owner_places *places, struct owner_source **source,
                                   struct mt_error *error);
void owner_source_destroy(struct owner_source *source);
/* Lives as long as the source, and only lends. */
struct event_source owner_source_events(struct owner_source *source);

#endif
