/* SPDX-License-Identifier: Apache-2.0 */
/* The one static struct of the recorder: hooks have no argument that could carry it. */
#ifndef LEAKTIDE_TRACER_RECORDING_STATE_H
#define LEAKTIDE_TRACER_RECORDING_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

struct recording_state {
    struct mt_file_header *header; /* NULL: not running */
    bool is_served;
    struct ring *_Atomic rings; /* newest first; only ever grows */
};

extern struct recording_state recording_state;

#endif
