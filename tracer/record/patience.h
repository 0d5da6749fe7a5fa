/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long somebody waits for a consumer that does nothing.
 *
 *   the launcher says that it    a wait lasts
 *   runs, or is ready to         patience_ms of the state, in the rings' header,
 *   waits for a disk             which consumer_care.c writes
 *   is stopped
 *   is dead, and is begun anew
 *   is dead for good             not at all
 *
 * A launcher that is gone, or says nothing for LAUNCHER_MS, leaves UNWATCHED_MS, whatever became of
 * the consumer: who killed both may be about to kill the program, and nothing shall be lost then.
 *
 * Whatever the consumer does, the time begins anew. Only time counts in which the caller could run
 * itself: a machine that sleeps, or stops all of them, makes nobody give up.
 */
#ifndef LEAKTIDE_TRACER_PATIENCE_H
#define LEAKTIDE_TRACER_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "leaktide/rings.h"

enum {
    PATIENCE_UNWATCHED_MS = 1000,
    PATIENCE_LAUNCHER_MS = 30000, /* of a launcher that lives */
    PATIENCE_MAX_MS = 600000      /* whatever stands in the header */
};

struct patience {
    uint64_t looked_ns;    /* 0: not yet */
    uint64_t idle_ns;      /* of the consumer */
    uint64_t unwatched_ns; /* by the launcher */
    uint32_t heartbeat, launcher_beat;
    enum mt_rings_consumer state; /* of the last look */
};

/* False: it is over. Zeros before the first call; called each time round of a wait. */
bool patience_lasts(struct patience *patience, const struct mt_rings_header *header);

#endif
