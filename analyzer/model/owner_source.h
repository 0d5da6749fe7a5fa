/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a recording in which blocks have the owners that they were given later.
 *
 * EVENT_BLOCK_OWNER says whose a block is when it is alive already. Here its alloc stands between
 * EVENT_TAG_BEGIN and EVENT_TAG_END of that owner, and within the module that
 * EVENT_BLOCK_NN_MODULE says, so whoever reads it needs to know nothing of
 * such events. What the block was called when it was allocated stays in front: "model@weight".
 * tally_owners.c has which block is meant.
 */
#ifndef LEAKTIDE_MODEL_OWNER_SOURCE_H
#define LEAKTIDE_MODEL_OWNER_SOURCE_H

#include "event_source.h"
#include "owned_blocks.h"

struct owner_source;

/* owned: settled, of all events of inner. Both must outlive it. MT_OK or MT_NO_MEMORY. */
enum mt_result owner_source_create(const struct event_source *inner,
                                   const struct owned_blocks *owned, struct owner_source **source,
                                   struct mt_error *error);
void owner_source_destroy(struct owner_source *source);
/* Lives as long as the source, and only lends. */
struct event_source owner_source_events(struct owner_source *source);

#endif
