/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "patience.h"

#include "clock.h"
#include "leaktide/invariant.h"
#include "owner.h"
#include "rings_file.h"

enum { LOOK_MAX_MS = 500 }; /* between two looks; what is beyond that we could not run */

static enum mt_rings_consumer state_of(const struct patience *patience,
                                       const struct mt_rings_header *header)
{
    uint32_t told = shared_load(&header->consumer_state);
    bool is_dead = owner_look(&header->consumer) == OWNER_DIED;

    if (owner_look(&header->launcher) != OWNER_LIVES || shared_load(&header->is_launcher_done) ||
        patience->unwatched_ns >= PATIENCE_LAUNCHER_MS * MILLISECOND_NS)
        return MT_CONSUMER_UNWATCHED;
    if (told == MT_CONSUMER_GONE || told >= MT_CONSUMER_STATES)
        return MT_CONSUMER_GONE;
    return is_dead ? MT_CONSUMER_DEAD : (enum mt_rings_consumer)told;
}

static uint64_t limit_ns(enum mt_rings_consumer state, const struct mt_rings_header *header)
{
    MT_ASSERT(state < MT_CONSUMER_STATES);

    uint32_t limit_ms = shared_load(&header->patience_ms[state]);

    if (state == MT_CONSUMER_UNWATCHED)
        limit_ms = PATIENCE_UNWATCHED_MS;
    if (state == MT_CONSUMER_GONE)
        limit_ms = 0;
    return (limit_ms < PATIENCE_MAX_MS ? limit_ms : PATIENCE_MAX_MS) * MILLISECOND_NS;
}

/* Adds what passed, or begins anew where the word moved. */
static void count(uint64_t *still_ns, uint64_t passed_ns, uint32_t *before, uint32_t now)
{
    *still_ns = *before == now ? *still_ns + passed_ns : 0;
    *before = now;
}

bool patience_lasts(struct patience *patience, const struct mt_rings_header *header)
{
    uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
    uint64_t passed_ns = patience->looked_ns ? now_ns - patience->looked_ns : 0;

    if (passed_ns > LOOK_MAX_MS * MILLISECOND_NS)
        passed_ns = LOOK_MAX_MS * MILLISECOND_NS;
    patience->looked_ns = now_ns;
    count(&patience->idle_ns, passed_ns, &patience->heartbeat, shared_load(&header->heartbeat));
    count(&patience->unwatched_ns, passed_ns, &patience->launcher_beat,
          shared_load(&header->launcher_beat));
    patience->state = state_of(patience, header);
    return patience->idle_ns < limit_ns(patience->state, header);
}
