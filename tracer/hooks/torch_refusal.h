/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What torch_npu says when it has no memory. Its allocators tell no profiler of it, so the words of
 * the exception are all there is: they name the whole request, where the runtime below was asked
 * for it in parts. Sizes are as exact as the words.
 */
#ifndef LEAKTIDE_TRACER_TORCH_REFUSAL_H
#define LEAKTIDE_TRACER_TORCH_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct torch_refusal {
    bool is_workspace;
    uint64_t size_bytes;
    int32_t device; /* as the program counts */
};

/* text: `length` bytes, then a byte 0. False: it says something else. */
bool torch_refusal_read(const char *text, size_t length, struct torch_refusal *refusal);

#endif
