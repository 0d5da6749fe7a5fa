/* SPDX-License-Identifier: Apache-2.0 */
/* The one static struct of the recorder: hooks have no argument that could carry it. */
#ifndef MEMTIDE_TRACER_RECORDING_STATE_H
#define MEMTIDE_TRACER_RECORDING_STATE_H

#include <stdatomic.h>
#include <stdint.h>

#include "ring.h"
#include "trace_file.h"

struct recording_state {
    struct trace_files files;
    struct ring *_Atomic rings; /* newest first; only ever grows */
    _Atomic uint32_t stream_count;
    uint64_t ring_words; /* a power of two */
};

extern struct recording_state recording_state;

#endif
