/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of events, by name.
 */
#include "event.h"

const char *event_kind_name(uint8_t kind)
{
    static const char *const names[EVENT_KIND_COUNT] = {
        [EVENT_ALLOC] = "alloc",
        [EVENT_FREE] = "free",
        [EVENT_ALLOC_FAILED] = "failed alloc",
        [EVENT_RESERVED] = "reserved size of a pool",
        [EVENT_OPERATOR_BEGIN] = "operator begin",
        [EVENT_OPERATOR_END] = "operator end",
        [EVENT_RANGE_BEGIN] = "range begin",
        [EVENT_RANGE_END] = "range end",
        [EVENT_MARK] = "mark",
        [EVENT_STEP_BEGIN] = "step begin",
        [EVENT_STEP_END] = "step end",
        [EVENT_TAG_BEGIN] = "tag begin",
        [EVENT_TAG_END] = "tag end",
        [EVENT_LAUNCH] = "kernel launch",
        [EVENT_ACCESS] = "access",
        [EVENT_BLOCK_OWNER] = "block owner",
        [EVENT_NOTE] = "note",
        [EVENT_PAUSE] = "pause",
        [EVENT_SAMPLE] = "sample",
        [EVENT_DEVICE] = "device",
        [EVENT_RETURNED] = "return to the pool",
        [EVENT_WINDOW_BEGIN] = "chosen steps begin",
        [EVENT_SEGMENT] = "segment",
        [EVENT_SEGMENT_GONE] = "segment gone",
        [EVENT_FREE_WAITS] = "free that waits",
        [EVENT_NN_MODULE_BEGIN] = "module of the model begin",
        [EVENT_NN_MODULE_END] = "module of the model end",
        [EVENT_BLOCK_NN_MODULE] = "block of a module of the model",
    };

    return names[kind];
}
