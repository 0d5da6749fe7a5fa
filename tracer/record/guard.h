/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are we inside our own code, or inside a higher call of the same layer?
 *
 * A layer is one set of functions that may call each other: aclrtMalloc may reach rtMalloc, and
 * only the outer call counts. Layers do not hide each other: aclrtMalloc reaching halMemAlloc is
 * recorded in both pools, because both ledgers are asked for.
 *
 *     bool outermost = guard_enter(LAYER_RUNTIME);
 *     status = real(...);
 *     if (outermost) {
 *         record_...();
 *         guard_leave(LAYER_RUNTIME);
 *     }
 *
 * A call that was left by longjmp or an exception leaves its mark behind; the next outer call on
 * a shallower stack takes it away again.
 */
#ifndef LEAKTIDE_TRACER_GUARD_H
#define LEAKTIDE_TRACER_GUARD_H

#include <stdbool.h>

enum layer {
    LAYER_HOST,    /* malloc and friends */
    LAYER_DRIVER,  /* hal* */
    LAYER_RUNTIME, /* acl*, rt*, rts* */
    LAYER_LAUNCH,  /* kernel launches of any of them */
    LAYER_MSTX,
    LAYER_OPENCL,
    LAYER_CUDA_RUNTIME,
    LAYER_CUDA_DRIVER,
    LAYER_TORCH,     /* what allocators of PyTorch report */
    LAYER_OPERATORS, /* of PyTorch */
    LAYER_PYTHON,    /* allocators of CPython */
    LAYER_MARKS,     /* leaktide/tracer.h */
    LAYER_COUNT
};

/* False: do not record, and do not call guard_leave. */
bool guard_enter(enum layer layer);
void guard_leave(enum layer layer);

#endif
