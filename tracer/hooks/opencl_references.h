/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's own references to the few objects whose end OpenCL does not tell.
 *
 * A fixed table without locks: a handle lives in one of the PROBES words after its hash.
 */
#ifndef LEAKTIDE_TRACER_OPENCL_REFERENCES_H
#define LEAKTIDE_TRACER_OPENCL_REFERENCES_H

#include <stdbool.h>

/* One reference from now on. False when there is no room: the handle is not followed. */
bool opencl_references_add(const void *handle);

/* One more; nothing happens to a handle that is not followed. */
void opencl_references_retain(const void *handle);

/* One less. True when it was the last: the handle is forgotten. */
bool opencl_references_release(const void *handle);

#endif
